#include "tests/profiler/exporters/simulated_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::exporters {
namespace {

using allocator::Block;
using allocator::CachingAllocator;
using allocator::Segment;
using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

constexpr uint64_t kMiB = uint64_t{1} << 20;

allocator::Settings SettingsOf(const SimulatedRun& run) {
  allocator::Settings settings;
  settings.first_address = 0x7f00'0000'0000;
  settings.device_memory_bytes = run.device_memory_bytes;
  settings.conf.expandable_segments = run.expandable;
  return settings;
}

class Run : public allocator::SegmentObserver {
 public:
  explicit Run(const SimulatedRun& run)
      : run_(run), random_(run.seed), allocator_(SettingsOf(run), this) {}

  std::shared_ptr<const trace::Trace> Trace() {
    std::vector<uint64_t> weights;
    for (int l = 0; l < run_.layers; ++l)
      Alloc(weights, Size(4 * kMiB), Category::kParameter, l, 0);
    std::vector<uint64_t> state;
    for (int step = 0; step < run_.steps && !out_of_memory_; ++step) Step(step, state);
    trace::TraceBuilder builder;
    trace::TraceInfo info;
    info.producer = "vramscope test";
    info.backend = trace::Backend::kPlan;
    info.start_unix_ns = 1'700'000'000'000'000'000;
    if (run_.expandable) info.alloc_conf = "expandable_segments:True";
    builder.SetInfo(info);
    absl::Status status = builder.AddStrings(0, strings_);
    EXPECT_TRUE(status.ok()) << status;
    status = builder.AddEvents(events_);
    EXPECT_TRUE(status.ok()) << status;
    return builder.Finish(true, "");
  }

 private:
  struct Live {
    uint32_t id;
    bool elsewhere;  // used on another stream
  };

  void Step(int step, std::vector<uint64_t>& state) {
    std::vector<uint64_t> activations, gradients, input;
    Put(EventKind::kStepBegin).id = static_cast<uint64_t>(step);
    Alloc(input, Size(kMiB), Category::kInput, 0, 0);
    Begin(Phase::kForward);
    for (int l = 0; l < run_.layers && !out_of_memory_; ++l) {
      std::vector<uint64_t> temporary;
      Alloc(temporary, Size(2 * kMiB), Category::kTemporary, l, 1);
      Alloc(activations, Size(6 * kMiB), Category::kTemporary, l, 2);
      if (random_() % 2 == 0) FreeAll(temporary);
      if (!out_of_memory_) Retag(activations.back(), Category::kActivation);
      FreeAll(temporary);
    }
    End();
    Begin(Phase::kBackward);
    for (int l = run_.layers; l-- > 0 && !out_of_memory_;) {
      Alloc(gradients, Size(4 * kMiB), Category::kAutogradDetail, l, 3);
      if (l % 2 == 0 && !out_of_memory_) Retag(gradients.back(), Category::kGradient);
      if (!activations.empty()) Free(activations.back());
      if (!activations.empty()) activations.pop_back();
    }
    End();
    Begin(Phase::kOptimizer);
    for (int l = 0; l < run_.layers && step == 0 && !out_of_memory_; ++l)
      Alloc(state, Size(8 * kMiB), Category::kOptimizerState, l, 4);
    End();
    Begin(Phase::kZeroGrad);
    FreeAll(gradients);
    End();
    for (const uint64_t address : activations) Retag(address, Category::kTemporary);
    FreeAll(activations);
    FreeAll(input);
    CompletePending();
    Put(EventKind::kStepEnd);
  }

  uint64_t Size(uint64_t around) { return around / 2 + random_() % around; }
  Event& Put(EventKind kind) {
    if (random_() % 3 != 0) now_ += random_() % 4000;
    Event e;
    e.kind = kind;
    e.time_ns = now_;
    return events_.emplace_back(e);
  }
  void Begin(Phase phase) { Put(EventKind::kPhaseBegin).detail = static_cast<uint8_t>(phase); }
  void End() { Put(EventKind::kPhaseEnd); }

  trace::StringId Intern(const std::string& text) {
    const auto [it, added] = ids_.try_emplace(text, static_cast<uint32_t>(strings_.size()));
    if (added) strings_.push_back(text);
    return {it->second};
  }

  void Alloc(std::vector<uint64_t>& into, uint64_t bytes, Category category, int layer, int op) {
    static const char* const kOps[] = {"aten::empty", "aten::gelu", "aten::addmm", "MmBackward0",
                                       "aten::zeros_like"};
    const uint32_t stream = random_() % 4 == 0 ? random_() % run_.streams : 0;
    const absl::StatusOr<Block> block = allocator_.Malloc(bytes, stream);
    if (!block.ok()) return;  // OnOutOfMemory has added the event
    Event& e = Put(EventKind::kAlloc);
    e.id = allocations_++;
    e.category = category;
    e.pool = block->pool;
    e.stream = stream;
    e.address = block->address;
    e.bytes = bytes;
    e.bytes_rounded = block->bytes_rounded;
    e.name = Intern(kOps[op]);
    e.module = Intern(fmt::format("model.layers.{}.mlp", layer));
    const bool elsewhere = run_.streams > 1 && random_() % 3 == 0;
    if (elsewhere) {
      EXPECT_TRUE(allocator_.RecordStream(block->address, (stream + 1) % run_.streams).ok());
    }
    live_[block->address] = {static_cast<uint32_t>(e.id), elsewhere};
    into.push_back(block->address);
  }

  void Retag(uint64_t address, Category category) {
    Event& e = Put(EventKind::kRetag);
    e.id = live_.at(address).id;
    e.category = category;
  }

  void Free(uint64_t address) {
    const Live live = live_.at(address);
    Put(EventKind::kFreeRequested).id = live.id;
    EXPECT_TRUE(allocator_.RequestFree(address).ok());
    if (live.elsewhere) {
      pending_.push_back(address);
      if (random_() % 2 == 0) CompletePending();
      return;
    }
    Complete(address);
  }
  void FreeAll(std::vector<uint64_t>& addresses) {
    for (const uint64_t address : addresses) Free(address);
    addresses.clear();
  }
  void Complete(uint64_t address) {
    Put(EventKind::kFreeCompleted).id = live_.at(address).id;
    live_.erase(address);
    EXPECT_TRUE(allocator_.CompleteFree(address).ok());
  }
  void CompletePending() {
    while (!pending_.empty()) {
      const uint64_t address = pending_.front();
      pending_.erase(pending_.begin());
      Complete(address);
    }
  }

  // ---- SegmentObserver
  void OnSegmentAlloc(const Segment& segment) override {
    Event& e = Put(EventKind::kSegmentAlloc);
    e.id = segments_;
    segment_ids_[segment.address] = segments_++;
    e.address = segment.address;
    e.bytes = segment.bytes;
    e.pool = segment.pool;
    e.stream = segment.stream;
    e.detail = segment.expandable;
  }
  void OnSegmentFree(const Segment& segment) override {
    Put(EventKind::kSegmentFree).id = segment_ids_.at(segment.address);
  }
  void OnSegmentMap(const Segment& segment, uint64_t address, uint64_t bytes) override {
    Map(EventKind::kSegmentMap, segment, address, bytes);
  }
  void OnSegmentUnmap(const Segment& segment, uint64_t address, uint64_t bytes) override {
    Map(EventKind::kSegmentUnmap, segment, address, bytes);
  }
  void Map(EventKind kind, const Segment& segment, uint64_t address, uint64_t bytes) {
    Event& e = Put(kind);
    e.id = segment_ids_.at(segment.address);
    e.address = address;
    e.bytes = bytes;
    e.pool = segment.pool;
    e.stream = segment.stream;
  }
  void OnOutOfMemory(uint64_t bytes, uint64_t free) override {
    out_of_memory_ = true;
    Event& e = Put(EventKind::kOutOfMemory);
    e.bytes = bytes;
    e.bytes_rounded = free;
  }
  void OnFreeCompleted(const Block& block) override {
    Put(EventKind::kFreeCompleted).id = live_.at(block.address).id;
    live_.erase(block.address);
    std::erase(pending_, block.address);
  }

  const SimulatedRun run_;
  std::mt19937 random_;
  CachingAllocator allocator_;
  int64_t now_ = 0;
  std::vector<std::string> strings_ = {""};
  std::map<std::string, uint32_t> ids_ = {{"", 0}};
  std::vector<Event> events_;
  uint32_t allocations_ = 0, segments_ = 0;
  std::map<uint64_t, Live> live_;
  std::map<uint64_t, uint32_t> segment_ids_;
  std::vector<uint64_t> pending_;
  bool out_of_memory_ = false;
};

}  // namespace

std::shared_ptr<const trace::Trace> Simulate(const SimulatedRun& run) { return Run(run).Trace(); }

}  // namespace vramscope::exporters
