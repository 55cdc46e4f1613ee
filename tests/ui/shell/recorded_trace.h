// Makes up a recording for tests of the window. It has older blocks, call stacks, inferred
// categories and steps, annotations, holes that pin segments, and an out-of-memory event at the
// end.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::testing {

struct RecordedOptions {
  int steps = 4;
  int layers = 6;
  bool out_of_memory = true;
  bool leak = true;  // every step leaves one block allocated
  uint64_t weight_bytes = 16 << 20;
};

class RecordedTrace {
 public:
  explicit RecordedTrace(const RecordedOptions& o) : o_(o) {}

  std::shared_ptr<const trace::Trace> Make() {
    using Kind = trace::EventKind;
    using trace::Category;
    const auto forward = Stack({{"forward", "/home/me/run/model.py", 42},
                                {"step", "/home/me/run/train.py", 10},
                                {"c10::Allocator", "/build/c10/core/Allocator.cpp", 7}});
    const auto optimizer =
        Stack({{"step", "/usr/lib/python3/dist-packages/torch/optim/adamw.py", 80},
               {"step", "/home/me/run/train.py", 12}});
    const auto leaky = Stack({{"log", "/home/me/run/metrics.py", 5}});
    // This segment, with a parameter in it, is older than the recording.
    Segment(o_.weight_bytes + (48 << 20));
    const auto weight = Alloc(o_.weight_bytes, Category::kParameter, 1, trace::StackId{});
    (void)weight;
    Push({.kind = Kind::kMarker, .name = Name(std::string(trace::kMarkerRecordingBegin))});
    for (int step = 0; step < o_.steps; ++step) {
      Push({.kind = Kind::kStepBegin, .detail = 3, .id = static_cast<uint64_t>(step)});
      Push({.kind = Kind::kAnnotationBegin, .name = Name("ProfilerStep#" + std::to_string(step))});
      Phase(trace::Phase::kForward, true);
      std::vector<uint64_t> live;
      for (int layer = 0; layer < o_.layers; ++layer) {
        Push({.kind = Kind::kAnnotationBegin, .name = Name("layer")});
        Segment(20 << 20);
        live.push_back(Alloc(8 << 20, Category::kActivation, 2, forward));
        live.push_back(Alloc(2 << 20, Category::kTemporary, 2, forward));
        Push({.kind = Kind::kAnnotationEnd});
      }
      if (o_.leak) Alloc(1 << 20, Category::kUnknown, 4, leaky);
      Phase(trace::Phase::kForward, false);
      Phase(trace::Phase::kBackward, true);
      for (const uint64_t id : live) Free(id);
      Phase(trace::Phase::kBackward, false);
      Phase(trace::Phase::kOptimizer, true);
      if (step == 0) Alloc(12 << 20, Category::kOptimizerState, 1, optimizer);
      Phase(trace::Phase::kOptimizer, false);
      Push({.kind = Kind::kAnnotationEnd});
      Push({.kind = Kind::kStepEnd});
    }
    if (o_.out_of_memory)
      Push({.kind = Kind::kOutOfMemory,
            .stack = forward,
            .bytes = 900 << 20,
            .bytes_rounded = 100 << 20});

    trace::TraceBuilder builder;
    trace::TraceInfo info;
    info.title = "recorded";
    info.backend = trace::Backend::kImported;
    info.source = "CUDA memory snapshot (pickle, protocol 4)";
    builder.SetInfo(info);
    EXPECT_TRUE(builder.AddStrings(0, strings_).ok());
    const auto stacks = builder.AddStacks(stacks_);
    EXPECT_TRUE(stacks.ok()) << stacks;
    const auto status = builder.AddEvents(events_);
    EXPECT_TRUE(status.ok()) << status;
    return builder.Finish(true, "");
  }

 private:
  struct Frame {
    std::string function, file;
    uint32_t line;
  };
  trace::StringId Name(const std::string& text) {
    for (size_t i = 0; i < strings_.size(); ++i)
      if (strings_[i] == text) return {static_cast<uint32_t>(i)};
    strings_.push_back(text);
    return {static_cast<uint32_t>(strings_.size() - 1)};
  }
  trace::StackId Stack(const std::vector<Frame>& frames) {
    for (const Frame& f : frames) {
      stacks_.frames.push_back(static_cast<uint32_t>(stacks_.function.size()));
      stacks_.function.push_back(Name(f.function));
      stacks_.file.push_back(Name(f.file));
      stacks_.line.push_back(f.line);
    }
    stacks_.lengths.push_back(static_cast<uint32_t>(frames.size()));
    return {static_cast<uint32_t>(stacks_.lengths.size())};
  }
  void Push(trace::Event e) {
    now_ += 1'000'000;
    e.time_ns = now_;
    events_.push_back(e);
  }
  void Phase(trace::Phase phase, bool begin) {
    Push({.kind = begin ? trace::EventKind::kPhaseBegin : trace::EventKind::kPhaseEnd,
          .detail = static_cast<uint8_t>(phase),
          .id = begin ? 5u : 0u});
  }
  void Segment(uint64_t bytes) {
    segment_ = (segment_end_ + (1 << 21)) & ~uint64_t{(1 << 21) - 1};
    segment_end_ = segment_ + bytes;
    next_ = segment_;
    Push({.kind = trace::EventKind::kSegmentAlloc,
          .pool = trace::Pool::kLarge,
          .id = segments_++,
          .address = segment_,
          .bytes = bytes});
  }
  uint64_t Alloc(uint64_t bytes, trace::Category category, uint8_t rule, trace::StackId stack) {
    if (next_ + bytes > segment_end_) Segment(bytes + (4 << 20));
    Push({.kind = trace::EventKind::kAlloc,
          .category = category,
          .pool = trace::Pool::kLarge,
          .detail = rule,
          .stack = stack,
          .id = allocations_,
          .address = next_,
          .bytes = bytes - 100,
          .bytes_rounded = bytes});
    next_ += bytes;
    return allocations_++;
  }
  void Free(uint64_t id) {
    Push({.kind = trace::EventKind::kFreeRequested, .id = id});
    Push({.kind = trace::EventKind::kFreeCompleted, .id = id});
  }

  RecordedOptions o_;
  std::vector<std::string> strings_ = {""};
  trace::StackIncrement stacks_;
  std::vector<trace::Event> events_;
  int64_t now_ = 5'000'000;
  uint64_t segment_ = 0, segment_end_ = uint64_t{0x7f00} << 32, next_ = 0;
  uint64_t segments_ = 0, allocations_ = 0;
};

inline std::shared_ptr<const trace::Trace> MakeRecordedTrace(const RecordedOptions& o = {}) {
  return RecordedTrace(o).Make();
}

}  // namespace vramscope::testing
