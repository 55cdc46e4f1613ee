#include "tests/profiler/exporters/sample_trace.h"

#include <absl/status/status.h>
#include <gtest/gtest.h>

#include <random>

namespace vramscope::exporters {

using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

TraceMaker::TraceMaker(trace::TraceInfo info) : info_(std::move(info)) {}

trace::TraceInfo TraceMaker::PlanInfo() {
  trace::TraceInfo info;
  info.producer = "vramscope test";
  info.title = "toy";
  info.backend = trace::Backend::kPlan;
  info.device.key = "toy";
  info.device.name = "Toy \"9000\"";
  info.device.memory_bytes = uint64_t{8} << 30;
  info.device.compute_capability = 89;
  info.device.sm_count = 10;
  info.device.max_threads_per_sm = 1536;
  info.model.name = "toy";
  return info;
}

TraceMaker& TraceMaker::At(int64_t ns) {
  now_ = ns;
  return *this;
}

TraceMaker& TraceMaker::OnDevice(uint8_t device) {
  device_ = device;
  return *this;
}

trace::StringId TraceMaker::Intern(std::string_view text) {
  const auto [it, added] =
      ids_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size()));
  if (added) strings_.emplace_back(text);
  return {it->second};
}

Event TraceMaker::Make(EventKind kind) const {
  Event event;
  event.kind = kind;
  event.time_ns = now_;
  event.device = device_;
  return event;
}

void TraceMaker::Begin(EventKind kind, uint64_t id_or_phase, std::string_view name,
                       std::string_view module, uint32_t thread) {
  Event event = Make(kind);
  if (kind == EventKind::kPhaseBegin) {
    event.detail = static_cast<uint8_t>(id_or_phase);
  } else {
    event.id = id_or_phase;
  }
  event.name = Intern(name);
  event.module = Intern(module);
  event.thread = thread;
  events_.push_back(event);
}

void TraceMaker::End(EventKind kind, uint64_t id_or_phase, uint32_t thread) {
  Begin(kind, id_or_phase, "", "", thread);
}

uint32_t TraceMaker::Alloc(uint64_t bytes, uint64_t rounded, uint64_t address, Category category,
                           std::string_view op, std::string_view module) {
  Event event = Make(EventKind::kAlloc);
  event.id = allocations_;
  event.bytes = bytes;
  event.bytes_rounded = rounded;
  event.address = address;
  event.category = category;
  event.name = Intern(op);
  event.module = Intern(module);
  event.pool = bytes <= (1 << 20) ? trace::Pool::kSmall : trace::Pool::kLarge;
  events_.push_back(event);
  return allocations_++;
}

void TraceMaker::Free(uint32_t allocation) {
  Event event = Make(EventKind::kFreeRequested);
  event.id = allocation;
  events_.push_back(event);
  event.kind = EventKind::kFreeCompleted;
  events_.push_back(event);
}

void TraceMaker::Retag(uint32_t allocation, Category category) {
  Event event = Make(EventKind::kRetag);
  event.id = allocation;
  event.category = category;
  events_.push_back(event);
}

uint32_t TraceMaker::Segment(uint64_t bytes, uint64_t address) {
  Event event = Make(EventKind::kSegmentAlloc);
  event.id = segments_;
  event.bytes = bytes;
  event.address = address;
  events_.push_back(event);
  return segments_++;
}

void TraceMaker::FreeSegment(uint32_t segment) {
  Event event = Make(EventKind::kSegmentFree);
  event.id = segment;
  events_.push_back(event);
}

void TraceMaker::OutOfMemory(uint64_t bytes, uint64_t free) {
  Event event = Make(EventKind::kOutOfMemory);
  event.bytes = bytes;
  event.bytes_rounded = free;
  events_.push_back(event);
}

void TraceMaker::Marker(std::string_view name) {
  Event event = Make(EventKind::kMarker);
  event.name = Intern(name);
  events_.push_back(event);
}

std::shared_ptr<const trace::Trace> TraceMaker::Finish() {
  trace::TraceBuilder builder;
  builder.SetInfo(info_);
  absl::Status status = builder.AddStrings(0, strings_);
  EXPECT_TRUE(status.ok()) << status;
  status = builder.AddEvents(events_);
  EXPECT_TRUE(status.ok()) << status;
  return builder.Finish(true, "");
}

std::shared_ptr<const trace::Trace> SmallTrace() {
  TraceMaker maker;
  maker.At(1000);
  maker.Segment(2 << 20, 0x10000000);
  const uint32_t weight =
      maker.Alloc(1000, 1024, 0x10000000, Category::kParameter, "aten::empty", "fc");
  maker.Marker(trace::kMarkerTrainingBegin);
  for (int step = 0; step < 2; ++step) {
    const int64_t t = 2000 + 100000 * step;
    maker.At(t);
    maker.Begin(EventKind::kStepBegin, step);
    maker.Begin(EventKind::kMicroBatchBegin, 0);
    maker.Begin(EventKind::kPhaseBegin, static_cast<uint64_t>(Phase::kForward));
    maker.Begin(EventKind::kModuleBegin, 0, "fc");
    maker.At(t + 500).Begin(EventKind::kOpBegin, 0, "aten::linear", "fc");
    maker.Begin(EventKind::kOpBegin, 0, "aten::mm", "fc");
    const uint32_t out =
        maker.Alloc(5000, 5120, 0x10001000, Category::kTemporary, "aten::mm", "fc");
    maker.At(t + 10500).End(EventKind::kOpEnd);
    maker.End(EventKind::kOpEnd);
    maker.Retag(out, Category::kActivation);
    maker.End(EventKind::kModuleEnd);
    maker.End(EventKind::kPhaseEnd, static_cast<uint64_t>(Phase::kForward));
    maker.Begin(EventKind::kPhaseBegin, static_cast<uint64_t>(Phase::kLoss));
    maker.Begin(EventKind::kOpBegin, 0, "aten::sum");
    maker.At(t + 12001).End(EventKind::kOpEnd);
    maker.End(EventKind::kPhaseEnd, static_cast<uint64_t>(Phase::kLoss));
    maker.Begin(EventKind::kPhaseBegin, static_cast<uint64_t>(Phase::kBackward));
    maker.Begin(EventKind::kOpBegin, 0, "MmBackward0", "fc", 1);
    const uint32_t gradient =
        maker.Alloc(1000, 1024, 0x10003000, Category::kGradient, "MmBackward0", "fc");
    maker.At(t + 42001).End(EventKind::kOpEnd, 0, 1);
    maker.Free(out);
    maker.End(EventKind::kPhaseEnd, static_cast<uint64_t>(Phase::kBackward));
    maker.End(EventKind::kMicroBatchEnd, 0);
    maker.Begin(EventKind::kPhaseBegin, static_cast<uint64_t>(Phase::kOptimizer));
    maker.Begin(EventKind::kOpBegin, 0, "aten::add_");
    maker.At(t + 50000).End(EventKind::kOpEnd);
    maker.End(EventKind::kPhaseEnd, static_cast<uint64_t>(Phase::kOptimizer));
    maker.Begin(EventKind::kPhaseBegin, static_cast<uint64_t>(Phase::kZeroGrad));
    maker.Free(gradient);
    maker.At(t + 51000).End(EventKind::kPhaseEnd, static_cast<uint64_t>(Phase::kZeroGrad));
    maker.At(t + 52000).End(EventKind::kStepEnd, step);
  }
  maker.Marker(trace::kMarkerTrainingEnd);
  maker.OutOfMemory(uint64_t{1} << 40, 12345);
  maker.Free(weight);
  maker.FreeSegment(0);
  return maker.Finish();
}

std::shared_ptr<const trace::Trace> RandomTrace(uint32_t seed, int events) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  TraceMaker maker;
  int64_t now = below(1000000);
  uint64_t address = 0x7000000000;
  std::vector<uint32_t> live;
  std::vector<uint32_t> segments;
  // For each thread, a stack with the end events of its open slices.
  std::vector<EventKind> open[3];
  const std::vector<std::string> names = {"aten::mm", "aten::add",   "a\\b",
                                          "quo\"te",  "caf\xc3\xa9", "bad\xff"};
  for (int i = 0; i < events; ++i) {
    now += below(3) == 0 ? 0 : below(5000);
    maker.At(now);
    const uint32_t thread = below(3);
    switch (below(8)) {
      case 0:
      case 1:
        live.push_back(maker.Alloc(1 + below(100000), 512 * (1 + below(200)), address,
                                   static_cast<Category>(below(trace::kCategoryCount)),
                                   names[below(6)], "m"));
        address += 1 << 20;
        break;
      case 2:
        if (!live.empty()) {
          const uint32_t which = below(live.size());
          maker.Free(live[which]);
          live.erase(live.begin() + which);
        }
        break;
      case 3:
        if (!live.empty()) {
          maker.Retag(live[below(live.size())],
                      static_cast<Category>(below(trace::kCategoryCount)));
        }
        break;
      case 4:
        if (segments.empty() || below(2) == 0) {
          segments.push_back(maker.Segment(1 << 20, address));
          address += 1 << 20;
        } else {
          maker.FreeSegment(segments.back());
          segments.pop_back();
        }
        break;
      case 5:
      case 6:
        if (below(2) == 0) {
          maker.Begin(EventKind::kModuleBegin, 0, "module." + std::to_string(below(5)), "", thread);
          open[thread].push_back(EventKind::kModuleEnd);
        } else {
          maker.Begin(EventKind::kOpBegin, 0, names[below(6)], "m", thread);
          open[thread].push_back(EventKind::kOpEnd);
        }
        break;
      default:
        if (!open[thread].empty()) {
          maker.End(open[thread].back(), 0, thread);
          open[thread].pop_back();
        }
    }
  }
  return maker.Finish();
}

}  // namespace vramscope::exporters
