#include "profiler/importers/kineto.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/json_tokens.h"
#include "profiler/importers/kineto_events.h"
#include "profiler/importers/kineto_stacks.h"
#include "profiler/run/reported_gpu.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::importers {
namespace {

using recording::Action;
using recording::Recording;
using trace::Activity;
using trace::ActivityKind;
using trace::Event;
using trace::EventKind;
using Memory = KinetoTables::Memory;
using Span = KinetoTables::Span;

using trace::kReservedTotalAddress;

constexpr uint64_t kMadeAddresses = uint64_t{1} << 58;  // for blocks without a recorded address

// What the `Total ...` fields say about one device.
struct DeviceTotals {
  int64_t reserved = -1, least_reserved = INT64_MAX;
  int64_t allocated_before = -1;  // before the first event
  uint64_t older_freed = 0;
  base::HashMap<uint64_t, uint64_t> live;  // address -> bytes
};

class Assembler {
 public:
  Assembler(KinetoTables tables, const KinetoOptions& options, trace::MemoryBudget& budget)
      : tables_(std::move(tables)), options_(options), budget_(budget) {}

  absl::StatusOr<Recording> Run() {
    ChooseMemory();
    if (tables_.memory.empty() && part_)
      return absl::OutOfRangeError(i18n::Text("the requested part has no [memory] event"));
    if (tables_.memory.empty())
      return absl::InvalidArgumentError(
          i18n::Format("a Chrome trace that has {} events, but no [memory] event. Record it with "
                       "torch.profiler.profile(profile_memory=True)",
                       tables_.events));
    recording_.source = tables_.ours ? TEXT_MARK("Chrome trace (vramscope)")
                                     : TEXT_MARK("Chrome trace (PyTorch profiler, Kineto)");
    recording_.bytes_are_blocks = true;
    recording_.strings = std::move(tables_.strings);
    recording_.gpu = OnlyGpu();
    if (only_cpu_) WarnOfHostMemory();
    begin_ns_ = Begin();
    recording_.start_unix_ns = tables_.base_ns + begin_ns_;
    Stacks();
    if (budget_.exhausted()) return std::move(recording_);  // the caller checks the budget
    Entries();
    Segments();
    Annotations();
    Extras();
    Activities();
    if (tables_.unusable > 0)
      recording_.warnings.push_back(
          tables_.unusable == 1
              ? i18n::English("{} event without a time, size or address is left out",
                              tables_.unusable)
              : i18n::English("{} events without a time, size or address are left out",
                              tables_.unusable));
    return std::move(recording_);
  }

 private:
  // Keeps the memory events in the requested range, sorted by time.
  void ChooseMemory() {
    std::vector<Memory>& memory = tables_.memory;
    only_cpu_ = std::all_of(memory.begin(), memory.end(), [](const Memory& m) { return m.cpu; });
    if (only_cpu_) recording_.device = "cpu";
    std::erase_if(memory, [&](const Memory& m) { return m.cpu != only_cpu_; });
    std::stable_sort(memory.begin(), memory.end(),
                     [](const Memory& a, const Memory& b) { return a.time_ns < b.time_ns; });
    NameBlocks();
    if (memory.empty()) return;
    const uint64_t last = std::min<uint64_t>(options_.last_entry, memory.size() - 1);
    const int64_t first_ns = memory.front().time_ns;
    size_t row = 0;
    const size_t before = memory.size();
    std::erase_if(memory, [&](const Memory& m) {
      const size_t i = row++;
      const int64_t ns = m.time_ns - first_ns;
      return i < options_.first_entry || i > last || ns < options_.from_ns || ns > options_.to_ns;
    });
    part_ = memory.size() < before;
  }

  // Assigns addresses to events without one (PyTorch before 1.11 wrote such events). In such a
  // file, a free has a size, but names no block: the latest block of that size is assumed. This
  // keeps the allocated total right. The block is right, too, if the program frees blocks in
  // reverse order of allocation.
  void NameBlocks() {
    std::vector<Memory>& memory = tables_.memory;
    const auto nameless = [](const Memory& m) { return m.without_address; };
    const auto count = static_cast<uint64_t>(std::ranges::count_if(memory, nameless));
    if (count == 0) return;
    if (std::ranges::any_of(
            memory, [](const Memory& m) { return !m.out_of_memory && !m.without_address; })) {
      std::erase_if(memory, nameless);
      recording_.warnings.push_back(
          count == 1 ? i18n::English("{} [memory] event has no address and is left out", count)
                     : i18n::English("{} [memory] events have no address and are left out", count));
      return;
    }
    constexpr uint64_t kMost = uint64_t{1} << 59;  // limit of the sum of all sizes
    base::HashMap<std::pair<uint8_t, uint64_t>, std::vector<uint64_t>> live;
    uint64_t next = kMadeAddresses;
    for (Memory& m : memory) {
      if (m.out_of_memory) continue;
      const auto bytes = static_cast<uint64_t>(m.bytes < 0 ? -m.bytes : m.bytes);
      std::vector<uint64_t>& blocks = live[{m.device, bytes}];
      if (m.bytes < 0 && !blocks.empty()) {
        m.address = blocks.back();
        blocks.pop_back();
        continue;
      }
      // The event keeps address 0, and is removed below.
      if (bytes > kMadeAddresses + kMost - next) continue;
      m.address = next;  // a free without a match is of an older block
      next += bytes;
      if (m.bytes > 0) blocks.push_back(m.address);
    }
    tables_.unusable +=
        std::erase_if(memory, [](const Memory& m) { return !m.out_of_memory && m.address == 0; });
    if (count == 1) {
      recording_.warnings.push_back(
          i18n::English("{} [memory] event has no address (\"Addr\"), as in files before PyTorch "
                        "1.11. Memory that was allocated before the recording is not shown",
                        count));
      return;
    }
    recording_.warnings.push_back(
        i18n::English("{} [memory] events have no addresses (\"Addr\"), as in files before PyTorch "
                      "1.11. Totals are right, but each free is assigned to the latest block of "
                      "its size, and memory that was allocated before the recording is not shown",
                      count));
  }

  // The GPU that owns the memory, from the file's deviceProperties; empty if there are several.
  run::DeviceProfile OnlyGpu() const {
    if (only_cpu_) return {};
    const uint8_t device = tables_.memory.front().device;
    if (std::ranges::any_of(tables_.memory,
                            [device](const Memory& m) { return m.device != device; }))
      return {};
    for (const auto& [id, gpu] : tables_.gpus)
      if (id == device) return run::ProfileOf(gpu);
    return {};
  }

  void WarnOfHostMemory() {
    const auto kernels = std::ranges::count_if(tables_.work, [](const KinetoTables::Work& w) {
      return trace::IsOfDevice(w.activity.kind);
    });
    if (kernels == 0) return;
    recording_.warnings.push_back(
        kernels == 1
            ? i18n::English(
                  "GPU memory was not recorded: the file has {} GPU kernel or memcpy, but the "
                  "allocator did not report to the profiler. The memory shown is host memory",
                  kernels)
            : i18n::English(
                  "GPU memory was not recorded: the file has {} GPU kernels and memcpys, but the "
                  "allocator did not report to the profiler. The memory shown is host memory",
                  kernels));
  }

  // Whether the time lies outside the requested part of the file.
  bool Outside(int64_t begin_ns, int64_t end_ns) const {
    return part_ &&
           (end_ns < tables_.memory.front().time_ns || begin_ns > tables_.memory.back().time_ns);
  }

  int64_t Begin() {
    const auto outside = [&](const auto& row) { return Outside(row.begin_ns, row.end_ns); };
    std::erase_if(tables_.annotations, outside);
    std::erase_if(tables_.work, [&](const KinetoTables::Work& w) { return outside(w.activity); });
    std::erase_if(tables_.spans, outside);
    int64_t begin = tables_.memory.front().time_ns;
    if (part_) return begin;
    for (const auto& a : tables_.annotations) begin = std::min(begin, a.begin_ns);
    for (const auto& w : tables_.work)
      if (w.activity.kind != ActivityKind::kOverhead) begin = std::min(begin, w.activity.begin_ns);
    for (const Span& s : tables_.spans)
      if (s.kind != Span::kPython) begin = std::min(begin, s.begin_ns);
    return begin;
  }
  int64_t Time(int64_t ns) const { return std::max<int64_t>(0, ns - begin_ns_); }

  // Finds the stacks of all memory events and the operators of all recorded launches.
  void Stacks() {
    memory_stacks_.resize(tables_.memory.size());
    std::vector<StackQuery*> queries;
    for (size_t i = 0; i < tables_.memory.size(); ++i) {
      memory_stacks_[i].time_ns = tables_.memory[i].time_ns;
      memory_stacks_[i].thread = tables_.memory[i].thread;
      queries.push_back(&memory_stacks_[i]);
    }
    launches_.resize(tables_.launches.size());
    for (size_t i = 0; i < launches_.size(); ++i) {
      launches_[i].time_ns = tables_.launches[i].time_ns;
      launches_[i].thread = tables_.launches[i].thread;
      launches_[i].only_op = true;
      queries.push_back(&launches_[i]);
      launch_of_correlation_.try_emplace(tables_.launches[i].correlation, static_cast<uint32_t>(i));
    }
    FillStacks(tables_.spans, queries, recording_.strings, recording_.stacks, budget_);
  }

  void Add(Action action, size_t i, uint64_t address, uint64_t bytes) {
    const Memory& m = tables_.memory[i];
    recording::EntryTable& e = recording_.entries;
    e.action.push_back(action);
    e.address.push_back(address);
    e.bytes.push_back(bytes);
    e.time_ns.push_back(Time(m.time_ns));
    e.stack.push_back(memory_stacks_[i].stack);
    e.stream.push_back(0);
    e.device.push_back(m.device);
    e.recorded_category.push_back(m.recorded_category);
  }

  void Entries() {
    for (size_t i = 0; i < tables_.memory.size(); ++i) {
      const Memory& m = tables_.memory[i];
      const auto bytes = static_cast<uint64_t>(m.bytes < 0 ? -m.bytes : m.bytes);
      DeviceTotals& totals = totals_[m.device];
      Reserved(i, totals);
      if (totals.allocated_before < 0 && m.total_allocated >= 0)
        totals.allocated_before =
            std::max<int64_t>(0, m.total_allocated - (m.out_of_memory ? 0 : m.bytes));
      if (m.out_of_memory) {
        Add(Action::kOutOfMemory, i, 0, bytes);
      } else if (m.bytes > 0) {
        totals.live[m.address] = bytes;
        Add(Action::kAlloc, i, m.address, bytes);
      } else {
        if (totals.live.erase(m.address) == 0) totals.older_freed += bytes;
        Add(Action::kFreeCompleted, i, m.address, bytes);
      }
    }
    recording::EntryTable& e = recording_.entries;
    const auto none = [](auto value) { return static_cast<int>(value) == 0; };
    if (std::all_of(e.device.begin(), e.device.end(), none)) e.device = {};
    if (std::all_of(e.recorded_category.begin(), e.recorded_category.end(), none))
      e.recorded_category = {};
  }

  void Reserved(size_t i, DeviceTotals& totals) {
    const int64_t now = tables_.memory[i].total_reserved;
    if (now < 0) return;
    totals.least_reserved = std::min(totals.least_reserved, now);
    const int64_t before = std::exchange(totals.reserved, now);
    if (before < 0 || before == now) return;
    const auto from = static_cast<uint64_t>(std::min(before, now));
    const auto to = static_cast<uint64_t>(std::max(before, now));
    Add(now > before ? Action::kSegmentMap : Action::kSegmentUnmap, i, kReservedTotalAddress + from,
        to - from);
  }

  void Segments() {
    for (const auto& [device, totals] : totals_) {
      const uint64_t older = OlderBytes(device, totals);
      if (totals.reserved <= 0) continue;
      recording::SegmentState segment;
      segment.address = kReservedTotalAddress;
      segment.bytes = static_cast<uint64_t>(totals.reserved);
      segment.device = device;
      segment.pool = trace::Pool::kLarge;
      segment.expandable = true;
      if (older > 0) {
        recording::BlockState block;
        block.address = segment.address;
        block.bytes = block.requested = older;
        block.use = recording::BlockUse::kAllocated;
        block.stack = OlderStack();
        segment.blocks.push_back(block);
      }
      if (segment.bytes > older) {
        recording::BlockState rest;
        rest.address = segment.address + older;
        rest.bytes = segment.bytes - older;
        segment.blocks.push_back(rest);
      }
      recording_.segments.push_back(std::move(segment));
    }
  }

  // Returns the bytes of blocks that are older than the first event and are never freed.
  uint64_t OlderBytes(uint8_t device, const DeviceTotals& totals) {
    if (totals.allocated_before < 0) return 0;
    const auto before = static_cast<uint64_t>(totals.allocated_before);
    const uint64_t older = before - std::min(before, totals.older_freed);
    if (older == 0 || totals.least_reserved == INT64_MAX) return 0;
    if (older <= static_cast<uint64_t>(totals.least_reserved)) return older;
    recording_.warnings.push_back(i18n::English(
        "device {}: {} bytes were allocated before the first event and never freed. "
        "These bytes are not shown, because the file states fewer reserved bytes at some point",
        device, older));
    return 0;
  }

  trace::StackId OlderStack() {
    if (older_stack_.value != 0) return older_stack_;
    recording_.strings.emplace_back(trace::kBeforeProfiler);
    trace::StackTable& s = recording_.stacks;
    s.function.push_back({static_cast<uint32_t>(recording_.strings.size() - 1)});
    s.file.push_back({});
    s.line.push_back(0);
    older_stack_.value = s.size();
    s.frames.push_back(s.frame_count() - 1);
    s.first.push_back(static_cast<uint32_t>(s.frames.size()));
    return older_stack_;
  }

  void Annotations() {
    recording_.annotations.reserve(tables_.annotations.size());
    for (const auto& a : tables_.annotations)
      recording_.annotations.push_back({a.name, Time(a.begin_ns), Time(a.end_ns), 0});
    std::stable_sort(recording_.annotations.begin(), recording_.annotations.end(),
                     [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  }

  // ---- Operators and modules
  struct Mark {
    int64_t time_ns;
    uint32_t row;
    EventKind kind;
  };

  void Extras() {
    std::vector<Mark> marks;
    SpanMarks(marks);
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.time_ns < b.time_ns; });
    recording_.extras.reserve(marks.size());
    for (const Mark& mark : marks) {
      Event event;
      event.kind = mark.kind;
      event.time_ns = Time(mark.time_ns);
      const Span& span = tables_.spans[mark.row];
      event.thread = span.thread;
      if (mark.kind == EventKind::kOpBegin || mark.kind == EventKind::kModuleBegin)
        event.name = span.name;
      if (mark.kind == EventKind::kOpBegin) event.module = span.module;
      recording_.extras.push_back(event);
    }
  }

  // Creates begin and end marks that nest on every thread. Needs the spans in FillStacks' order.
  void SpanMarks(std::vector<Mark>& marks) const {
    std::vector<Mark> open;
    const auto close_until = [&](int64_t time) {
      for (; !open.empty() && open.back().time_ns <= time; open.pop_back())
        marks.push_back(open.back());
    };
    for (uint32_t i = 0; i < tables_.spans.size(); ++i) {
      const Span& span = tables_.spans[i];
      if (span.kind == Span::kPython) continue;
      const bool op = span.kind == Span::kOp;
      if (!open.empty() && span.thread != tables_.spans[open.back().row].thread)
        close_until(INT64_MAX);
      close_until(span.begin_ns);
      const int64_t end = open.empty() ? span.end_ns : std::min(span.end_ns, open.back().time_ns);
      marks.push_back({span.begin_ns, i, op ? EventKind::kOpBegin : EventKind::kModuleBegin});
      open.push_back({end, i, op ? EventKind::kOpEnd : EventKind::kModuleEnd});
    }
    close_until(INT64_MAX);
  }

  // ---- Kernels, memcpys, API calls
  void Activities() {
    recording_.activities.reserve(tables_.work.size());
    for (const KinetoTables::Work& work : tables_.work) {
      Activity a = work.activity;
      a.begin_ns = Time(a.begin_ns);
      a.end_ns = Time(a.end_ns);
      if (tables_.ours) {
        recording_.activities.push_back(a);
        continue;
      }
      const auto op = tables_.op_of_external_id.find(work.external_id);
      const auto launch = launch_of_correlation_.find(static_cast<int64_t>(a.correlation));
      const bool launched = a.correlation != 0 && launch != launch_of_correlation_.end();
      if (launched) {
        const StackQuery& at = launches_[launch->second];
        a.op = at.op;
        a.module = at.module;
        if (a.kind == ActivityKind::kSynchronization) a.thread = at.thread;
      }
      if (work.external_id != 0 && op != tables_.op_of_external_id.end()) {
        a.op = op->second.name;
        if (op->second.module.value != 0) a.module = op->second.module;
      }
      recording_.activities.push_back(a);
    }
  }

  KinetoTables tables_;
  const KinetoOptions& options_;
  trace::MemoryBudget& budget_;
  Recording recording_;
  bool part_ = false, only_cpu_ = false;
  int64_t begin_ns_ = 0;
  std::vector<StackQuery> memory_stacks_, launches_;
  base::HashMap<int64_t, uint32_t> launch_of_correlation_;
  std::map<uint8_t, DeviceTotals> totals_;
  trace::StackId older_stack_;
};

}  // namespace

absl::StatusOr<Recording> ReadKineto(trace::InputStream& input, const KinetoOptions& options) {
  KinetoTables tables;
  trace::MemoryBudget budget(input, options.memory_limit);
  JsonTokens json(input, options.head, [&] {
    if (options.progress && input.total() > 0)
      options.progress(std::min(
          1.0, static_cast<double>(input.consumed()) / static_cast<double>(input.total())));
    return options.cancel == nullptr || !options.cancel->load();
  });
  const absl::Status status = KinetoEventReader(json, tables, budget).Read();
  const auto exceeded = [&, events = tables.events] {
    return budget.Exceeded(i18n::Format("the first {} events of the file", events),
                           i18n::Text("record fewer steps, or record without stacks and shapes"));
  };
  if (budget.exhausted()) return exceeded();
  if (!status.ok() &&
      (absl::IsCancelled(status) || absl::IsResourceExhausted(status) || tables.memory.empty()))
    return status;
  absl::StatusOr<Recording> recording = Assembler(std::move(tables), options, budget).Run();
  if (budget.exhausted()) return exceeded();
  if (recording.ok() && !status.ok())
    recording->lost =
        i18n::English("the file is truncated or damaged: {}", std::string(status.message()));
  return recording;
}

namespace {

KinetoOptions KinetoOptionsFor(std::string_view head, const OpenOptions& options) {
  return {.head = head,
          .progress = ReadingProgress(options),
          .cancel = options.cancel,
          .memory_limit = options.memory_limit,
          .first_entry = options.first_entry,
          .last_entry = options.last_entry,
          .from_ns = options.from_ns,
          .to_ns = options.to_ns};
}

bool IsKinetoKey(const JsonKey& key) {
  static constexpr std::string_view kOuter[] = {"traceEvents",      "schemaVersion",
                                                "deviceProperties", "displayTimeUnit",
                                                "traceName",        "baseTimeNanoseconds"};
  return key.in_list ? key.name == "ph" || key.name == "traceEvents"
                     : std::ranges::find(kOuter, key.name) != std::end(kOuter);
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenKineto(ImportRequest& request) {
  absl::StatusOr<Recording> recording =
      ReadKineto(*request.input, KinetoOptionsFor(request.head, request.options));
  request.input.reset();
  if (!recording.ok()) return recording.status();
  return FromRecording(*std::move(recording), request.title, request.options);
}

}  // namespace

ImporterEntry DeclareImporter_kineto() {
  return {.place = 30, .name = "kineto", .has_key = IsKinetoKey, .read = OpenKineto};
}

}  // namespace vramscope::importers
