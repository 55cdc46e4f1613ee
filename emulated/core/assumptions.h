// Collects the platform's assumptions and the calls that it does not emulate, with counts, and
// writes them to platform-<pid>.json at exit.
//
//   Assume("cuDNN workspace of a convolution", "cudnnGetConvolutionForwardWorkspaceSize", 0);
//
// Thread-safe. Calls with the same `what` and `where` share one entry. The entry has the number of
// all calls, but the bytes of the first call.
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
// A function of an NVIDIA library that is not implemented. generate_stubs.py generates the Stubs.
struct Stub {
  static constexpr int kParameters = 6;

  const char* library;
  const char* function;
  int64_t answer;  // the status that the function returns; 0: success
  // For each of the first parameters: the size of the result to which it points, or 0 if it does
  // not point to a result.
  uint8_t output_bytes[8] = {};
};
// Records a call of the stub.
VRAMSCOPE_EMULATED_API void CalledUnknown(const Stub& stub);
// Writes a line to VRAMSCOPE_EMULATED_LOG.
VRAMSCOPE_EMULATED_API void Log(const char* format, ...) __attribute__((format(printf, 1, 2)));

struct Assumption {
  std::string what, where;
  uint64_t bytes = 0;
  uint64_t count = 0;
};

class AssumptionList {
 public:
  // The maximum number of different entries. All others are counted together in one more entry.
  static constexpr size_t kMost = 10'000;

  void Add(std::string_view what, std::string_view where, uint64_t bytes);
  std::vector<Assumption> All() const;  // all assumptions, in the order of their first appearance

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
  std::vector<Assumption> entries_;
};

}  // namespace vramscope::emulated

extern "C" {
// Called by generated stubs with their arguments: counts the call, logs the name once, sets the
// results to zero, and returns the status.
VRAMSCOPE_EMULATED_API int64_t vramscope_emulated_unknown(uint64_t, uint64_t, uint64_t, uint64_t,
                                                          uint64_t, uint64_t,
                                                          const vramscope::emulated::Stub* stub);
}
