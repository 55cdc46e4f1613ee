// Gathers the steps and phases of a run as it is written, for the outline in the footer. Internal
// to this folder; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/trace/header_codec.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

class OutlineSlices {
 public:
  static constexpr size_t kMost = 65'536;

  void Add(const Event& event);
  // By begin; what is open ends at `end_ns`.
  std::vector<Footer::Slice> Take(int64_t end_ns);

 private:
  struct Kind {
    std::vector<Footer::Slice> slices;
    uint32_t open = 0;  // within one another
    bool gone = false;  // there were too many
  };
  void Begin(Kind& of, SliceKind kind, uint32_t number, int64_t time_ns);
  static void End(Kind& of, int64_t time_ns);

  Kind steps_, phases_;
  std::optional<uint8_t> process_;  // the first to begin something
};

}  // namespace vramscope::trace
