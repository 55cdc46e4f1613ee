// Builds traces event by event.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

class TraceMaker {
 public:
  struct Frame {
    std::string function, file;
    uint32_t line = 0;
  };

  trace::TraceInfo info;

  trace::StringId String(const std::string& text) {
    if (text.empty()) return {};
    const auto [it, fresh] = strings_.try_emplace(text, strings_.size() + 1);
    if (fresh) Note(builder_.AddStrings(it->second, {{text}}));
    return {it->second};
  }
  trace::StackId Stack(const std::vector<Frame>& frames) {
    trace::StackIncrement increment;
    increment.first_frame = frames_;
    increment.first_stack = stacks_;
    for (const Frame& f : frames) {
      increment.function.push_back(String(f.function));
      increment.file.push_back(String(f.file));
      increment.line.push_back(f.line);
      increment.frames.push_back(frames_++);
    }
    increment.lengths = {static_cast<uint32_t>(frames.size())};
    Note(builder_.AddStacks(increment));
    return {stacks_++};
  }

  trace::EventIndex Add(trace::Event e) {
    e.time_ns = time_ += kStep;
    Note(builder_.AddEvents({{e}}));
    return event_++;
  }
  uint64_t Segment(uint64_t address, uint64_t bytes, trace::Pool pool = trace::Pool::kLarge,
                   bool expandable = false, uint8_t device = 0, uint32_t stream = 0,
                   uint32_t mempool = 0) {
    Add({.kind = trace::EventKind::kSegmentAlloc,
         .pool = pool,
         .detail = static_cast<uint8_t>(expandable),
         .device = device,
         .stream = stream,
         .mempool = mempool,
         .id = segments_,
         .address = address,
         .bytes = bytes});
    return segments_++;
  }
  struct Block {
    uint64_t address = 0, bytes = 0;
    uint64_t rounded = 0;  // 0: the same as `bytes`
    trace::Category category = trace::Category::kUnknown;
    trace::StackId stack = {};
    std::string op = {}, module = {};
    uint8_t device = 0;
  };
  uint64_t Alloc(const Block& b) {
    Add({.kind = trace::EventKind::kAlloc,
         .category = b.category,
         .pool = trace::Pool::kLarge,
         .device = b.device,
         .name = String(b.op),
         .module = String(b.module),
         .stack = b.stack,
         .id = allocations_,
         .address = b.address,
         .bytes = b.bytes,
         .bytes_rounded = b.rounded != 0 ? b.rounded : b.bytes});
    return allocations_++;
  }
  void FreeRequested(uint64_t id) { Add({.kind = trace::EventKind::kFreeRequested, .id = id}); }
  trace::EventIndex Free(uint64_t id) {
    FreeRequested(id);
    return Add({.kind = trace::EventKind::kFreeCompleted, .id = id});
  }
  void BeginStep(uint64_t number) { Add({.kind = trace::EventKind::kStepBegin, .id = number}); }
  void EndStep() { Add({.kind = trace::EventKind::kStepEnd}); }
  // Adds an activity that begins `after_ns` after the last event and takes `takes_ns`.
  void Work(trace::Activity activity, int64_t after_ns = 0, int64_t takes_ns = 0) {
    activity.begin_ns = time_ + after_ns;
    activity.end_ns = activity.begin_ns + takes_ns;
    Note(builder_.AddActivities({{activity}}));
  }
  void NextAt(int64_t time_ns) { time_ = time_ns - kStep; }
  trace::EventIndex last() const { return event_ - 1; }

  std::shared_ptr<const trace::Trace> Finish() {
    builder_.SetInfo(info);
    EXPECT_TRUE(status_.ok()) << status_;
    return builder_.Finish(true, "");
  }

 private:
  static constexpr int64_t kStep = 1000;  // ns between events

  void Note(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  trace::TraceBuilder builder_;
  absl::Status status_;
  std::map<std::string, uint32_t> strings_;
  uint32_t frames_ = 0, stacks_ = 1;
  uint64_t segments_ = 0, allocations_ = 0;
  trace::EventIndex event_ = 0;
  int64_t time_ = 0;
};

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kBase = uint64_t{1} << 32;

}  // namespace vramscope::explain
