#include "tests/profiler/analysis/random_trace.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::analysis {
namespace {

using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

Event Of(EventKind kind) {
  Event e;
  e.kind = kind;
  return e;
}

class Maker : public allocator::SegmentObserver {
 public:
  explicit Maker(const RandomTraceOptions& options)
      : options_(options),
        random_(options.seed),
        allocator_({.device_memory_bytes = options.device_memory_bytes,
                    .grant_over_limit = true,
                    .conf = ConfOf(options)},
                   this) {}

  std::shared_ptr<const trace::Trace> Make() {
    trace::TraceInfo info;
    info.device.memory_bytes = uint64_t{24} << 30;
    info.device.context_bytes = uint64_t{500} << 20;
    builder_.SetInfo(info);
    std::vector<uint64_t> parameters, states;
    Begin(EventKind::kPhaseBegin, static_cast<uint8_t>(Phase::kSetup));
    for (int i = 0; i < 4 * options_.layers; ++i) {
      const uint64_t id = Alloc(Size(), Category::kTemporary, "aten::empty", LayerName(i / 4));
      if (Dice(10) > 0) Retag(id, Category::kParameter);
      parameters.push_back(id);
    }
    End(EventKind::kPhaseEnd);
    Marker(trace::kMarkerTrainingBegin);
    for (int s = 0; s < options_.steps; ++s) {
      Event step = Of(EventKind::kStepBegin);
      step.id = static_cast<uint64_t>(s);
      Add(step);
      for (int m = 0; m < options_.micro_batches; ++m) MicroBatch(m);
      Begin(EventKind::kPhaseBegin, static_cast<uint8_t>(Phase::kOptimizer));
      if (s == 0) {
        for (uint64_t p : parameters) {
          states.push_back(Alloc(bytes_[p], Category::kOptimizerState, "aten::zeros_like", ""));
        }
      }
      for (int i = 0; i < options_.layers; ++i) {
        Free(Alloc(Size(), Category::kTemporary, "aten::add", ""), true);
      }
      FreeAll(gradients_);
      End(EventKind::kPhaseEnd);
      Add(Of(EventKind::kStepEnd));
      if (Dice(3) == 0) allocator_.EmptyCache();
    }
    Marker(trace::kMarkerTrainingEnd);
    if (options_.tear_down) {
      FreeAll(parameters);
      FreeAll(states);
      CompletePending(0);
      allocator_.EmptyCache();
    }
    Flush();
    EXPECT_TRUE(status_.ok()) << status_;
    return builder_.Finish(true, "");
  }

  void OnSegmentAlloc(const allocator::Segment& s) override {
    segment_ids_[s.address] = segments_;
    Event e = Of(EventKind::kSegmentAlloc);
    e.pool = s.pool;
    e.stream = s.stream;
    e.id = segments_++;
    e.address = s.address;
    e.bytes = s.bytes;
    e.detail = s.expandable;
    if (options_.segments) Add(e);
  }
  void OnSegmentMap(const allocator::Segment& s, uint64_t address, uint64_t bytes) override {
    Map(EventKind::kSegmentMap, s, address, bytes);
  }
  void OnSegmentUnmap(const allocator::Segment& s, uint64_t address, uint64_t bytes) override {
    Map(EventKind::kSegmentUnmap, s, address, bytes);
  }
  void OnSegmentFree(const allocator::Segment& s) override {
    Event e = Of(EventKind::kSegmentFree);
    e.id = segment_ids_.at(s.address);
    if (options_.segments) Add(e);
  }
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free) override {
    Event e = Of(EventKind::kOutOfMemory);
    e.bytes = bytes;
    e.bytes_rounded = device_free;
    Add(e);
  }

 private:
  static run::AllocConf ConfOf(const RandomTraceOptions& options) {
    run::AllocConf conf;
    conf.expandable_segments = options.expandable;
    return conf;
  }
  void Map(EventKind kind, const allocator::Segment& s, uint64_t address, uint64_t bytes) {
    Event e = Of(kind);
    e.pool = s.pool;
    e.stream = s.stream;
    e.id = segment_ids_.at(s.address);
    e.address = address;
    e.bytes = bytes;
    if (options_.segments) Add(e);
  }
  uint64_t Dice(uint64_t n) { return random_() % n; }
  uint64_t Size() {
    return Dice(3) == 0   ? 1 + Dice(32 << 20)
           : Dice(2) == 0 ? 1 + Dice(3 << 20)
                          : 1 + Dice(64 << 10);
  }
  static std::string LayerName(int layer) { return "model.layers." + std::to_string(layer); }

  void MicroBatch(int number) {
    Event begin = Of(EventKind::kMicroBatchBegin);
    begin.id = static_cast<uint64_t>(number);
    Add(begin);
    std::vector<uint64_t> saved;
    for (const Phase phase : {Phase::kForward, Phase::kLoss, Phase::kBackward}) {
      Begin(EventKind::kPhaseBegin, static_cast<uint8_t>(phase));
      const bool backward = phase == Phase::kBackward;
      const uint32_t thread = backward ? 2 : 1;
      for (int l = 0; l < (phase == Phase::kLoss ? 1 : options_.layers); ++l) {
        const int layer = backward ? options_.layers - 1 - l : l;
        Slice(EventKind::kModuleBegin, LayerName(layer), "", thread);
        for (int o = 0; o < options_.ops_per_layer; ++o) {
          Op(backward, thread, layer, o, saved);
        }
        Slice(EventKind::kModuleEnd, "", "", thread);
      }
      if (backward) FreeAll(saved);
      End(EventKind::kPhaseEnd);
    }
    Add(Of(EventKind::kMicroBatchEnd));
  }

  void Op(bool backward, uint32_t thread, int layer, int number, std::vector<uint64_t>& saved) {
    const std::string name = (backward ? "Backward" : "aten::op") + std::to_string(number % 5);
    Slice(EventKind::kOpBegin, name, LayerName(layer), thread);
    const uint64_t temporary = Alloc(Size(), Category::kTemporary, name, LayerName(layer));
    const uint64_t result = Alloc(Size(), Category::kUnknown, name, LayerName(layer));
    Free(temporary, Dice(4) != 0);
    if (backward && Dice(4) == 0) {
      Retag(result, Category::kGradient);
      gradients_.push_back(result);
    } else if (!backward && Dice(3) != 0) {
      Retag(result, Category::kActivation);
      saved.push_back(result);
    } else {
      Free(result, true);
    }
    if (backward && !saved.empty()) {
      Free(saved.back(), true);
      saved.pop_back();
    }
    Slice(EventKind::kOpEnd, "", "", thread);
    CompletePending(4);
  }

  trace::StringId Intern(const std::string& text) {
    if (text.empty()) return {};
    const auto [it, fresh] = strings_.try_emplace(text, strings_.size() + 1);
    if (fresh) {
      Flush();
      Note(builder_.AddStrings(it->second, {{text}}));
    }
    return {it->second};
  }

  uint64_t Alloc(uint64_t bytes, Category category, const std::string& op,
                 const std::string& module) {
    const absl::StatusOr<allocator::Block> b = allocator_.Malloc(bytes, 0);
    EXPECT_TRUE(b.ok()) << b.status();
    Event e = Of(EventKind::kAlloc);
    e.id = bytes_.size();
    e.bytes = bytes;
    e.bytes_rounded = b->bytes_rounded;
    e.address = b->address;
    e.pool = b->pool;
    e.category = category;
    e.name = Intern(op);
    e.module = Intern(module);
    Add(e);
    bytes_.push_back(bytes);
    addresses_.push_back(b->address);
    return e.id;
  }
  // Unless `at_once`, the free completes later, as if another stream still used the block.
  void Free(uint64_t id, bool at_once) {
    Event e = Of(EventKind::kFreeRequested);
    e.id = id;
    Add(e);
    pending_.push_back(id);
    if (at_once) {
      pending_.pop_back();
      Complete(id);
    }
  }
  void Complete(uint64_t id) {
    EXPECT_TRUE(allocator_.Free(addresses_[id]).ok());
    Event e = Of(EventKind::kFreeCompleted);
    e.id = id;
    Add(e);
  }
  void CompletePending(size_t keep) {
    while (pending_.size() > keep) {
      Complete(pending_.front());
      pending_.pop_front();
    }
  }
  void FreeAll(std::vector<uint64_t>& ids) {
    for (uint64_t id : ids) Free(id, true);
    ids.clear();
  }
  void Retag(uint64_t id, Category category) {
    Event e = Of(EventKind::kRetag);
    e.id = id;
    e.category = category;
    Add(e);
  }
  void Begin(EventKind kind, uint8_t detail) {
    Event e = Of(kind);
    e.detail = detail;
    Add(e);
  }
  void End(EventKind kind) { Add(Of(kind)); }
  void Slice(EventKind kind, const std::string& name, const std::string& module, uint32_t thread) {
    if (!options_.slices) return;
    Event e = Of(kind);
    e.name = Intern(name);
    e.module = Intern(module);
    e.thread = thread;
    Add(e);
  }
  void Marker(std::string_view name) {
    Event e = Of(EventKind::kMarker);
    e.name = Intern(std::string(name));
    Add(e);
  }
  void Add(Event e) {
    time_ += Dice(8) == 0 ? 0 : static_cast<int64_t>(1 + Dice(Dice(50) == 0 ? 50'000 : 500));
    e.time_ns = time_;
    events_.push_back(e);
    if (events_.size() == 4096) Flush();
  }
  void Flush() {
    Note(builder_.AddEvents(events_));
    events_.clear();
  }
  void Note(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  RandomTraceOptions options_;
  std::mt19937_64 random_;
  allocator::CachingAllocator allocator_;
  trace::TraceBuilder builder_;
  absl::Status status_;
  std::vector<Event> events_;
  int64_t time_ = 1'000'000;
  std::unordered_map<std::string, uint32_t> strings_;
  std::unordered_map<uint64_t, uint64_t> segment_ids_;
  uint64_t segments_ = 0;
  std::vector<uint64_t> bytes_, addresses_;  // indexed by allocation
  std::deque<uint64_t> pending_;             // frees that were requested and are not completed
  std::vector<uint64_t> gradients_;
};

}  // namespace

std::shared_ptr<const trace::Trace> MakeRandomTrace(const RandomTraceOptions& options) {
  return Maker(options).Make();
}

}  // namespace vramscope::analysis
