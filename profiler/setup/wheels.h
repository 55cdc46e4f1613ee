// The PyTorch wheels that vramscope uses, pinned in resources/libtorch.txt. The launcher
// (./vramscope) passes the same list to pip.
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
  std::string sha256;         // 64 lowercase hexadecimal digits
  std::string use;            // "run", "build", "cuda"
  uint64_t bytes = 0;         // size of the file
  std::string file;           // name of the file
};

// Parses lines `NAME==VERSION --hash=sha256:HEX  # USE BYTES FILE`. Lines that begin with '#' are
// skipped.
absl::StatusOr<std::vector<Wheel>> ParseWheels(std::string_view text);

std::vector<Wheel> WheelsFor(std::string_view use);
// Version of the embedded loop's LibTorch: "2.11.0".
const std::string& TorchVersion();

}  // namespace vramscope::setup
