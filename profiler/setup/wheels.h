// The wheels of PyTorch that vramscope uses, as resources/libtorch.txt pins them: the same list
// that the launcher hands to pip.
//
//   for (const Wheel& wheel : WheelsFor("run")) bytes += wheel.bytes;
//
// Static storage; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::setup {

struct Wheel {
  std::string name, version;  // "torch", "2.11.0"
  std::string sha256;         // 64 digits in lower case
  std::string use;            // "run", "build", "cuda"
  uint64_t bytes = 0;         // of the file
  std::string file;           // its name
};

// Lines `NAME==VERSION --hash=sha256:HEX  # USE BYTES FILE`; those that begin with '#' are skipped.
absl::StatusOr<std::vector<Wheel>> ParseWheels(std::string_view text);

std::vector<Wheel> WheelsFor(std::string_view use);
// Of the embedded loop's LibTorch: "2.11.0".
const std::string& TorchVersion();

}  // namespace vramscope::setup
