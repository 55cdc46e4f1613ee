// Collects the steps and phases of a run while it is written, for the outline in the footer. If
// there are more than kMost, neighbours are combined in groups of two, then four, and so on.
// Internal to this folder; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/trace/header_codec.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

class OutlineSlices {
 public:
  static constexpr size_t kMost = 32'768;  // limit of groups per kind; combining halves them

  void Add(const Event& event);
  // Returns the groups, sorted by begin. Slices that are still open end at `end_ns`.
  std::vector<Footer::Slice> Take(int64_t end_ns);

 private:
  struct Group {
    Footer::Slice slice;
    std::array<int64_t, kPhaseCount> time{};  // time of each phase in the group
  };
  struct Kind {
    std::vector<Group> groups;
    uint32_t together = 1;  // slices in each group except the last
    uint32_t open = 0;      // nesting depth of open slices
    int64_t begin_ns = 0;   // begin of the outermost open slice
    uint32_t number = 0;    // number of the outermost open slice
  };
  static void Begin(Kind& of, SliceKind kind, uint32_t number, int64_t time_ns);
  static void End(Kind& of, int64_t time_ns);
  static void Close(Kind& of, int64_t time_ns);
  static void Halve(Kind& of);

  Kind steps_, phases_;
  std::optional<uint8_t> process_;  // the first process that begins a slice
};

}  // namespace vramscope::trace
