// Gathers the steps and phases of a run as it is written, for the outline in the footer: each by
// itself while they are few enough, then two neighbours in one, then four, ... Internal to this
// folder; one thread.
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
  static constexpr size_t kMost = 32'768;  // of a kind; half of them at least, once there are more

  void Add(const Event& event);
  // By begin; what is open ends at `end_ns`.
  std::vector<Footer::Slice> Take(int64_t end_ns);

 private:
  struct Group {
    Footer::Slice slice;
    std::array<int64_t, kPhaseCount> time{};  // of phases, that each takes of it
  };
  struct Kind {
    std::vector<Group> groups;
    uint32_t together = 1;  // slices in a group, but for the last one
    uint32_t open = 0;      // within one another
    int64_t begin_ns = 0;   // of the outermost open one
    uint32_t number = 0;    // likewise
  };
  static void Begin(Kind& of, SliceKind kind, uint32_t number, int64_t time_ns);
  static void End(Kind& of, int64_t time_ns);
  static void Close(Kind& of, int64_t time_ns);
  static void Halve(Kind& of);

  Kind steps_, phases_;
  std::optional<uint8_t> process_;  // the first to begin something
};

}  // namespace vramscope::trace
