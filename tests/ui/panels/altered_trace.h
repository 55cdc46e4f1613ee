// Makes variants of the recording in recorded_trace.h: without times, with user metadata and
// compile contexts, or with long frames of C++ templates. Also makes a snapshot without history.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/ui/shell/recorded_trace.h"

namespace vramscope::testing {

using TracePtr = std::shared_ptr<const trace::Trace>;

inline trace::StringId AddString(trace::Trace& t, std::string text) {
  t.strings.push_back(std::move(text));
  return {static_cast<uint32_t>(t.strings.size() - 1)};
}

// Returns a trace without times. The time of entry i is i.
inline TracePtr WithoutTimes(const trace::Trace& of) {
  auto t = std::make_shared<trace::Trace>(of);
  t->info.has_times = false;
  const auto entry = [&](trace::EventIndex e) {
    return static_cast<int64_t>(e == trace::kNoEvent ? t->events.size() - 1 : e);
  };
  t->events.time_ns.clear();
  for (uint32_t i = 0; i < t->events.size(); ++i) t->events.time_ns.push_back(i);
  for (uint32_t i = 0; i < t->allocations.size(); ++i) {
    t->allocations.begin_ns.Set(i, entry(t->allocations.alloc_event[i]));
    t->allocations.end_ns.Set(i, entry(t->allocations.free_event[i]));
  }
  for (uint32_t i = 0; i < t->slices.size(); ++i) {
    t->slices.begin_ns.Set(i, entry(t->slices.begin_event[i]));
    t->slices.end_ns.Set(i, entry(t->slices.end_event[i]));
  }
  for (trace::Marker& marker : t->markers) marker.time_ns = entry(marker.event);
  return t;
}

// Returns a snapshot without history. It has two segments with one block each. One segment is in a
// private pool, and its block has the call stack of a serving engine.
inline TracePtr MakeState() {
  using Kind = trace::EventKind;
  trace::TraceBuilder builder;
  trace::TraceInfo info;
  info.backend = trace::Backend::kImported;
  info.source = "CUDA memory snapshot (pickle, protocol 4)";
  info.content = trace::Content::kState;
  info.has_times = false;
  builder.SetInfo(info);
  const std::vector<std::string> strings = {"",
                                            "_allocate_kv_cache_tensors",
                                            "/srv/vllm/v1/worker/gpu_model_runner.py",
                                            "load_weights",
                                            "/srv/vllm/model_executor/models/llama.py",
                                            std::string(trace::kMarkerRecordingBegin)};
  EXPECT_TRUE(builder.AddStrings(0, strings).ok());
  trace::StackIncrement stacks;
  stacks.function = {{1}, {3}};
  stacks.file = {{2}, {4}};
  stacks.line = {100, 7};
  stacks.lengths = {1, 1};
  stacks.frames = {0, 1};
  EXPECT_TRUE(builder.AddStacks(stacks).ok());
  constexpr uint64_t kMiB = 1 << 20, kBase = uint64_t{0x7f00} << 32;
  std::vector<trace::Event> events;
  const auto add = [&](trace::Event e) {
    e.time_ns = static_cast<int64_t>(events.size());
    e.pool = trace::Pool::kLarge;
    events.push_back(e);
  };
  add({.kind = Kind::kSegmentAlloc, .id = 0, .address = kBase, .bytes = 64 * kMiB});
  add({.kind = Kind::kSegmentAlloc,
       .mempool = 2,
       .id = 1,
       .address = kBase + 256 * kMiB,
       .bytes = 128 * kMiB});
  add({.kind = Kind::kAlloc,
       .category = trace::Category::kParameter,
       .stack = {2},
       .id = 0,
       .address = kBase,
       .bytes = 48 * kMiB - 5,
       .bytes_rounded = 48 * kMiB});
  add({.kind = Kind::kAlloc,
       .category = trace::Category::kKvCache,
       .stack = {1},
       .id = 1,
       .address = kBase + 256 * kMiB,
       .bytes = 128 * kMiB,
       .bytes_rounded = 128 * kMiB});
  add({.kind = Kind::kMarker, .name = {5}});
  const auto status = builder.AddEvents(events);
  EXPECT_TRUE(status.ok()) << status;
  return builder.Finish(true, "");
}

// Adds user metadata and a compile context to every other allocation.
inline TracePtr WithMetadata(const trace::Trace& of) {
  auto t = std::make_shared<trace::Trace>(of);
  const trace::StringId user = AddString(*t, "expert 3 of layer 7");
  const trace::StringId compiled = AddString(*t, "0/2");
  for (auto [column, text] : {std::pair(&t->events.user_metadata, user),
                              std::pair(&t->events.compile_context, compiled)}) {
    column->clear();
    for (uint32_t i = 0; i < t->allocations.size(); i += 2) {
      column->resize(t->allocations.alloc_event[i]);
      column->push_back(text);
    }
    column->resize(t->events.size());
  }
  return t;
}

inline constexpr char kLongFrame[] =
    "at::TensorBase at::detail::_empty_generic<c10::ArrayRef<long>, "
    "std::tuple<at::native::(anonymous_namespace)::VeryLongKernelNameWithoutAnyBlank<float,double>>"
    ">"
    "(c10::ArrayRef<long>,c10::Allocator*,c10::DispatchKeySet,c10::ScalarType,std::optional<c10::"
    "MemoryFormat>)";

// Replaces all frames by long C++ frames without a space at which a line could break.
inline TracePtr WithLongFrames(const trace::Trace& of) {
  auto t = std::make_shared<trace::Trace>(of);
  std::string unbroken(kLongFrame);
  std::erase(unbroken, ' ');
  const trace::StringId function = AddString(*t, unbroken);
  const trace::StringId file =
      AddString(*t, "/build/pytorch/aten/src/ATen/native/cuda/" + std::string(160, 'x') + ".cpp");
  for (uint32_t f = 0; f < t->stacks.frame_count(); ++f) {
    t->stacks.function[f] = function;
    t->stacks.file[f] = file;
  }
  return t;
}

}  // namespace vramscope::testing
