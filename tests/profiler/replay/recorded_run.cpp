#include "recorded_run.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

#include "profiler/recording/recording.h"
#include "profiler/trace/builder_sink.h"

namespace vramscope::replay {
namespace {

using allocator::Block;
using allocator::CachingAllocator;
using trace::EventKind;

// Writes what the allocator does as events of a trace and as entries of a recording.
class Recorder final : public allocator::SegmentObserver {
 public:
  explicit Recorder(bool plan) : plan_(plan) {}

  void OnSegmentAlloc(const allocator::Segment& s) override {
    trace::Event e = Event(EventKind::kSegmentAlloc, segments_);
    e.address = s.address;
    e.bytes = s.bytes;
    e.stream = s.stream;
    e.pool = s.pool;
    e.mempool = s.mempool;
    e.detail = s.expandable;
    events.push_back(e);
    segment_of_[s.address] = segments_++;
    if (!s.expandable) Entry(recording::Action::kSegmentAlloc, s.address, s.bytes, s.stream);
  }
  void OnSegmentFree(const allocator::Segment& s) override {
    events.push_back(Event(EventKind::kSegmentFree, segment_of_.at(s.address)));
    if (!s.expandable) Entry(recording::Action::kSegmentFree, s.address, s.bytes, s.stream);
    if (!s.expandable) by_program.push_back(emptying);
  }
  void OnSegmentMap(const allocator::Segment& s, uint64_t address, uint64_t bytes) override {
    Pages(EventKind::kSegmentMap, s, address, bytes);
    Entry(recording::Action::kSegmentMap, address, bytes, s.stream);
  }
  void OnSegmentUnmap(const allocator::Segment& s, uint64_t address, uint64_t bytes) override {
    Pages(EventKind::kSegmentUnmap, s, address, bytes);
    Entry(recording::Action::kSegmentUnmap, address, bytes, s.stream);
    by_program.push_back(emptying);
  }
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free) override {
    trace::Event e = Event(EventKind::kOutOfMemory, 0);
    e.bytes = bytes;
    e.bytes_rounded = device_free;
    e.stream = stream_now;
    events.push_back(e);
    Entry(recording::Action::kOutOfMemory, device_free, CachingAllocator::RoundSize(bytes, conf),
          stream_now);
  }
  // A release first completes pending frees and merges the blocks. Only then, it calls the driver.
  void OnFreeCompleted(const Block& b) override { Completed(b.address, b); }

  void Alloc(const Block& b, uint32_t allocation) {
    trace::Event e = Event(EventKind::kAlloc, allocations_);
    e.address = b.address;
    e.bytes = b.bytes_requested;
    e.bytes_rounded = b.bytes_rounded;
    e.stream = b.stream;
    e.pool = b.pool;
    events.push_back(e);
    live[b.address] = {b, allocations_++, allocation};
    Entry(recording::Action::kAlloc, b.address, b.bytes_requested, b.stream);
  }
  void Requested(uint64_t address) {
    const Live& l = live.at(address);
    events.push_back(Event(EventKind::kFreeRequested, l.id));
    Entry(recording::Action::kFreeRequested, address, l.block.bytes_requested, l.block.stream);
  }
  void Completed(uint64_t address, const Block& b) {
    events.push_back(Event(EventKind::kFreeCompleted, live.at(address).id));
    Entry(recording::Action::kFreeCompleted, address, b.bytes_requested, b.stream);
    completed.insert(live.at(address).allocation);
    live.erase(address);
  }

  struct Live {
    Block block;
    uint64_t id = 0;
    uint32_t allocation = 0;
  };
  std::vector<trace::Event> events;
  recording::EntryTable entries;
  std::map<uint64_t, Live> live;  // keyed by address
  std::set<uint32_t> completed;   // allocations whose free is completed
  uint32_t stream_now = 0;
  bool emptying = false;
  std::vector<bool> by_program;
  run::AllocConf conf;

 private:
  trace::Event Event(EventKind kind, uint64_t id) {
    trace::Event e;
    e.kind = kind;
    e.id = id;
    e.time_ns = ++time_;
    return e;
  }
  void Pages(EventKind kind, const allocator::Segment& s, uint64_t address, uint64_t bytes) {
    trace::Event e = Event(kind, segment_of_.at(s.address));
    e.address = address;
    e.bytes = bytes;
    e.stream = s.stream;
    e.pool = s.pool;
    events.push_back(e);
  }
  void Entry(recording::Action action, uint64_t address, uint64_t bytes, uint32_t stream) {
    if (plan_) return;
    entries.action.push_back(action);
    entries.address.push_back(address);
    entries.bytes.push_back(bytes);
    entries.time_ns.push_back(++time_);
    entries.stack.push_back({});
    entries.stream.push_back(stream);
  }

  const bool plan_;
  int64_t time_ = 0;
  uint64_t allocations_ = 0, segments_ = 0;
  // For each address, the segment of the last block that was there.
  std::map<uint64_t, uint64_t> segment_of_;
};

template <class Column>
void CutFront(Column& column, size_t n) {
  column.erase(column.begin(), column.begin() + static_cast<ptrdiff_t>(n));
}

std::shared_ptr<const trace::Trace> FromRecording(Recorder& recorder, size_t first_entry,
                                                  const CachingAllocator& model,
                                                  const RunOptions& options) {
  recording::Recording r;
  r.source = "a test";
  r.alloc_conf = options.conf;
  r.has_segments = true;
  for (uint32_t s = 1; s < 8; ++s) r.streams.push_back(s);
  recording::EntryTable& e = recorder.entries;
  CutFront(e.action, first_entry);
  CutFront(e.address, first_entry);
  CutFront(e.bytes, first_entry);
  CutFront(e.time_ns, first_entry);
  CutFront(e.stack, first_entry);
  CutFront(e.stream, first_entry);
  r.entries = std::move(e);
  for (const CachingAllocator::SnapshotSegment& s : model.Snapshot()) {
    recording::SegmentState state{.address = s.segment.address,
                                  .bytes = s.segment.bytes,
                                  .stream = s.segment.stream,
                                  .pool = s.segment.pool,
                                  .expandable = s.segment.expandable,
                                  .mempool = s.segment.mempool};
    const auto put = [&] {
      if (!state.blocks.empty()) r.segments.push_back(state);
      state.blocks.clear();
    };
    // A snapshot lists each mapped range of an expandable segment as a segment of its own.
    for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
      if (!b.mapped) {
        put();
        continue;
      }
      if (state.blocks.empty() && s.segment.expandable) {
        state.address = b.block.address;
        state.bytes = 0;
      }
      if (s.segment.expandable) state.bytes += b.block.bytes_rounded;
      state.blocks.push_back({.address = b.block.address,
                              .bytes = b.block.bytes_rounded,
                              .requested = b.block.bytes_requested,
                              .use = b.pending ? recording::BlockUse::kPendingFree
                                     : b.live  ? recording::BlockUse::kAllocated
                                               : recording::BlockUse::kInactive});
    }
    put();
  }
  const absl::StatusOr<recording::History> h = recording::Reconstruct(r);
  EXPECT_TRUE(h.ok()) << h.status();
  if (!h.ok()) return nullptr;
  EXPECT_TRUE(h->warnings.empty()) << h->warnings[0];
  recording::Labels labels;
  const size_t n = h->allocations.size();
  labels.category.resize(n);
  labels.rule.resize(n);
  labels.op.resize(n);
  labels.module.resize(n);
  trace::BuilderSink sink;
  recording::Emit(r, *h, labels, sink);
  EXPECT_TRUE(sink.status().ok()) << sink.status();
  return sink.Trace();
}

std::shared_ptr<const trace::Trace> OfOurOwn(const Recorder& recorder, const RunOptions& options) {
  trace::BuilderSink sink;
  trace::TraceInfo info;
  info.backend = trace::Backend::kPlan;
  info.has_config = true;
  info.config.alloc_conf = options.conf;
  info.device.memory_bytes = options.device_memory_bytes;
  sink.Begin(info);
  sink.Events(recorder.events);
  sink.End(true, "");
  EXPECT_TRUE(sink.status().ok()) << sink.status();
  return sink.Trace();
}

}  // namespace

std::vector<Action> MakeProgram(const ProgramOptions& o) {
  std::mt19937_64 random(o.seed);
  std::vector<Action> out;
  std::vector<uint32_t> live, pending;
  uint32_t next = 0;
  const auto take = [&random](std::vector<uint32_t>& from) {
    std::swap(from[random() % from.size()], from.back());
    const uint32_t a = from.back();
    from.pop_back();
    return a;
  };
  for (int i = 0; i < o.actions; ++i) {
    const uint64_t dice = random() % 10'000;
    if (dice < static_cast<uint64_t>(o.empty_caches)) {
      out.push_back({.kind = Action::kEmptyCache});
    } else if (!pending.empty() && dice % 4 == 0) {
      out.push_back({.kind = Action::kCompleteFree, .allocation = take(pending)});
    } else if (live.size() < o.live / 2 || (live.size() < o.live * 2 && dice % 2 == 0)) {
      const uint64_t bytes = random() % 3 == 0   ? 1 + random() % (1 << 20)
                             : random() % 2 == 0 ? 1 + random() % o.largest
                                                 : (1 + random() % 20) << 20;
      out.push_back({.kind = Action::kMalloc,
                     .allocation = next,
                     .bytes = bytes,
                     .stream = static_cast<uint32_t>(random() % o.streams),
                     .mempool = static_cast<uint32_t>(random() % o.mempools)});
      live.push_back(next++);
    } else if (!live.empty()) {
      const bool defer = random() % 100 < static_cast<uint64_t>(o.deferred);
      const uint32_t a = take(live);
      out.push_back({.kind = defer ? Action::kRequestFree : Action::kFree, .allocation = a});
      if (defer) pending.push_back(a);
    }
  }
  return out;
}

std::shared_ptr<const trace::Trace> Interleaved(const RecordedRun& first, const RecordedRun& second,
                                                uint64_t seed) {
  std::mt19937_64 random(seed);
  const RecordedRun* runs[2] = {&first, &second};
  size_t next[2] = {0, 0};
  std::map<uint64_t, uint64_t> allocations[2],
      segments[2];  // ids of the run to ids of the trace
  uint64_t counts[2] = {0, 0};
  std::vector<trace::Event> events;
  while (next[0] < first.events.size() || next[1] < second.events.size()) {
    uint8_t device = random() % 2;
    if (next[device] == runs[device]->events.size()) device = 1 - device;
    trace::Event e = runs[device]->events[next[device]++];
    const bool of_segment = e.kind == EventKind::kSegmentAlloc ||
                            e.kind == EventKind::kSegmentFree || e.kind == EventKind::kSegmentMap ||
                            e.kind == EventKind::kSegmentUnmap;
    if (of_segment || e.kind == EventKind::kAlloc || e.kind == EventKind::kFreeRequested ||
        e.kind == EventKind::kFreeCompleted) {
      auto& ids = of_segment ? segments[device] : allocations[device];
      const auto [it, fresh] = ids.try_emplace(e.id, counts[of_segment]);
      counts[of_segment] += fresh;
      e.id = it->second;
    }
    e.device = device;
    e.time_ns = static_cast<int64_t>(events.size());
    events.push_back(e);
  }
  trace::BuilderSink sink;
  trace::TraceInfo info;
  info.backend = trace::Backend::kImported;
  sink.Begin(info);
  sink.Events(events);
  sink.End(true, "");
  EXPECT_TRUE(sink.status().ok()) << sink.status();
  return sink.Trace();
}

RecordedRun RunProgram(const std::vector<Action>& program, const RunOptions& options) {
  Recorder recorder(options.plan);
  allocator::Settings settings{.device_memory_bytes = options.device_memory_bytes,
                               .grant_over_limit = options.plan,
                               .conf = run::ParseAllocConf(options.conf).value()};
  recorder.conf = settings.conf;
  CachingAllocator model(settings, &recorder);
  std::map<uint32_t, uint64_t> address;  // of the program's allocations
  RecordedRun out;
  size_t first_entry = 0;
  std::map<uint64_t, uint64_t> older;  // true sizes, keyed by address
  for (size_t i = 0; i < program.size(); ++i) {
    if (static_cast<int>(i) == options.first_action) {
      first_entry = recorder.entries.size();
      for (const auto& [at, l] : recorder.live) older[at] = l.block.bytes_rounded;
    }
    const Action& a = program[i];
    recorder.stream_now = a.stream;
    if (a.kind == Action::kEmptyCache) {
      const size_t before = recorder.by_program.size();
      recorder.emptying = true;
      model.EmptyCache();
      recorder.emptying = false;
      if (recorder.by_program.size() > before) out.seen.push_back(a);
      continue;
    }
    out.seen.push_back(a);
    if (a.kind == Action::kMalloc) {
      const absl::StatusOr<Block> b = model.Malloc(a.bytes, a.stream, a.mempool);
      if (!b.ok()) continue;
      address[a.allocation] = b->address;
      recorder.Alloc(*b, a.allocation);
      continue;
    }
    const auto it = address.find(a.allocation);
    if (it == address.end() || recorder.completed.count(a.allocation) != 0) continue;
    const uint64_t at = it->second;
    const Block block = recorder.live.at(at).block;
    if (a.kind != Action::kCompleteFree) recorder.Requested(at);
    if (a.kind != Action::kRequestFree) recorder.Completed(at, block);
    const absl::Status status = a.kind == Action::kFree          ? model.Free(at)
                                : a.kind == Action::kRequestFree ? model.RequestFree(at)
                                                                 : model.CompleteFree(at);
    EXPECT_TRUE(status.ok()) << status;
  }
  out.stats = model.stats();
  out.events = recorder.events;
  out.by_program = recorder.by_program;
  out.trace = options.plan ? OfOurOwn(recorder, options)
                           : FromRecording(recorder, first_entry, model, options);
  const trace::Trace& t = *out.trace;
  for (uint32_t row = 0; t.recording_begin != trace::kNoEvent && row < t.allocations.size() &&
                         t.allocations.alloc_event[row] < t.recording_begin;
       ++row) {
    out.older_block_bytes.push_back(older.at(t.allocations.address[row]));
  }
  return out;
}

}  // namespace vramscope::replay
