// What the platform had to assume or could not answer: counted, named, written to
// platform-<pid>.json at exit.
//
//   Assume("cuDNN workspace of a convolution", "cudnnGetConvolutionForwardWorkspaceSize", 0);
//
// Thread-safe. The same `what` and `where` are one entry: its bytes are those of the first, its
// count grows.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated/core/api.h"

namespace vramscope::emulated {

VRAMSCOPE_EMULATED_API void Assume(std::string_view what, std::string_view where, uint64_t bytes);
// A function of NVIDIA's without an implementation here. generate_stubs.py writes these.
struct Stub {
  static constexpr int kParameters = 6;

  const char* library;
  const char* function;
  int64_t answer;  // its status; 0: success
  uint8_t output_bytes[8] =
      {};  // of what each of its first parameters points to, where that is a result
};
// It was called.
VRAMSCOPE_EMULATED_API void CalledUnknown(const Stub& stub);
// A line for VRAMSCOPE_EMULATED_LOG.
VRAMSCOPE_EMULATED_API void Log(const char* format, ...) __attribute__((format(printf, 1, 2)));

struct Assumption {
  std::string what, where;
  uint64_t bytes = 0;
  uint64_t count = 0;
};

class AssumptionList {
 public:
  static constexpr size_t kMost = 10'000;  // different ones; the rest is counted in one entry

  void Add(std::string_view what, std::string_view where, uint64_t bytes);
  std::vector<Assumption> All() const;  // in the order of their first appearance

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
  std::vector<Assumption> entries_;
};

}  // namespace vramscope::emulated

extern "C" {
// What generated stubs call, with what they were called with: counts, logs the name once, sets the
// results to zero, and returns the answer.
VRAMSCOPE_EMULATED_API int64_t vramscope_emulated_unknown(uint64_t, uint64_t, uint64_t, uint64_t,
                                                          uint64_t, uint64_t,
                                                          const vramscope::emulated::Stub* stub);
}
