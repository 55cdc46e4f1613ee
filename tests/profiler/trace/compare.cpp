// Functions that compare and list traces.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <tuple>

#include "profiler/trace/activity_codec.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/columns.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace::testing {

namespace {

// Compares the first `n` rows of two columns.
template <class Values>
void Column(std::string& difference, const char* name, const Values& a, const Values& b, size_t n) {
  if (!difference.empty()) return;
  if (a.size() < n || b.size() < n) {
    difference = fmt::format("{}: {} and {} rows, {} wanted", name, a.size(), b.size(), n);
    return;
  }
  for (size_t i = 0; i < n; ++i)
    if (!(a[i] == b[i])) {
      difference = fmt::format("{} differs at row {}", name, i);
      return;
    }
}

void CompareStacks(std::string& difference, const Trace& a, const Trace& b, bool prefix) {
  const StackTable &x = a.stacks, &y = b.stacks;
  if (prefix ? x.size() > y.size() || x.frame_count() > y.frame_count()
             : x.size() != y.size() || x.frame_count() != y.frame_count())
    difference = "numbers of stacks or frames differ";
  Column(difference, "stacks.function", x.function, y.function, x.frame_count());
  Column(difference, "stacks.file", x.file, y.file, x.frame_count());
  Column(difference, "stacks.line", x.line, y.line, x.frame_count());
  Column(difference, "stacks.first", x.first, y.first, x.first.size());
  Column(difference, "stacks.frames", x.frames, y.frames, x.frames.size());
  for (EventIndex i = 0; i < a.events.size() && difference.empty(); ++i)
    if (a.events.StackOf(i) != b.events.StackOf(i))
      difference = fmt::format("events.stack differs at row {}", i);
    else if (a.events.UserMetadataOf(i) != b.events.UserMetadataOf(i))
      difference = fmt::format("events.user_metadata differs at row {}", i);
    else if (a.events.CompileContextOf(i) != b.events.CompileContextOf(i))
      difference = fmt::format("events.compile_context differs at row {}", i);
}

// Checks that the rows of `a` equal those of `b`, or are a subsequence of them.
void CompareActivities(std::string& difference, const ActivityTable& a, const ActivityTable& b,
                       bool subsequence) {
  if (!difference.empty()) return;
  if (!subsequence && a.size() != b.size())
    difference = fmt::format("activities: {} and {} rows", a.size(), b.size());
  uint32_t at = 0;
  for (uint32_t row = 0; row < a.size() && difference.empty(); ++row, ++at) {
    while (subsequence && at < b.size() && !(a.Row(row) == b.Row(at))) ++at;
    if (at >= b.size() || !(a.Row(row) == b.Row(at)))
      difference = fmt::format("activities differ at row {}", row);
  }
  ForEachColumn(
      [&](const auto& column) {
        if (difference.empty() && column.size() != a.size())
          difference = "columns of activities differ in length";
      },
      a);
}

std::string Compare(const Trace& a, const Trace& b, bool prefix) {
  std::string d;
  if (!prefix && (a.strings != b.strings)) return "strings differ";
  const auto rows = [&](const char* name, uint32_t x, uint32_t y) -> size_t {
    if (d.empty() && (prefix ? x > y : x != y)) d = fmt::format("{}: {} and {} rows", name, x, y);
    return x;
  };
#define SAME(table, column) Column(d, #table "." #column, a.table.column, b.table.column, n)
  {
    const size_t n = rows("events", a.events.size(), b.events.size());
    SAME(events, kind);
    SAME(events, time_ns);
    SAME(events, id);
    SAME(events, category);
    SAME(events, detail);
    SAME(events, bytes);
    SAME(events, bytes_rounded);
    SAME(events, name);
  }
  {
    const size_t n = rows("allocations", a.allocations.size(), b.allocations.size());
    SAME(allocations, alloc_event);
    SAME(allocations, begin_ns);
    SAME(allocations, bytes);
    SAME(allocations, bytes_rounded);
    SAME(allocations, address);
    SAME(allocations, stream);
    SAME(allocations, device);
    SAME(allocations, pool);
    SAME(allocations, birth_category);
    SAME(allocations, op);
    SAME(allocations, module);
    SAME(allocations, phase);
    SAME(allocations, step);
    SAME(allocations, micro_batch);
    SAME(allocations, segment);
    if (!prefix) {
      SAME(allocations, free_requested_event);
      SAME(allocations, free_event);
      SAME(allocations, end_ns);
      SAME(allocations, category);
      SAME(allocations, main_category);
    }
  }
  {
    const size_t n = rows("retags", a.retags.size(), b.retags.size());
    SAME(retags, event);
    SAME(retags, allocation);
    SAME(retags, from);
    SAME(retags, to);
  }
  {
    const size_t n = rows("segments", a.segments.size(), b.segments.size());
    SAME(segments, alloc_event);
    SAME(segments, bytes);
    SAME(segments, address);
    SAME(segments, stream);
    SAME(segments, device);
    SAME(segments, pool);
    SAME(segments, expandable);
    SAME(segments, mempool);
    if (!prefix) SAME(segments, free_event);
  }
  {
    const size_t n = rows("slices", a.slices.size(), b.slices.size());
    SAME(slices, kind);
    SAME(slices, begin_ns);
    SAME(slices, begin_event);
    SAME(slices, name);
    SAME(slices, module);
    SAME(slices, number);
    SAME(slices, step);
    SAME(slices, depth);
    SAME(slices, thread);
    if (!prefix) {
      SAME(slices, end_ns);
      SAME(slices, end_event);
    }
  }
  {
    const size_t n = rows("other events", a.other_events.size(), b.other_events.size());
    SAME(other_events, event);
    SAME(other_events, address);
    SAME(other_events, stream);
    SAME(other_events, thread);
    SAME(other_events, device);
    SAME(other_events, pool);
    SAME(other_events, module);
  }
#undef SAME
  CompareActivities(d, a.activities, b.activities, prefix);
  CompareActivities(d, a.operands, b.operands, prefix);
  CompareStacks(d, a, b, prefix);
  if (d.empty() && a.recording_begin != b.recording_begin &&
      (!prefix || a.recording_begin != kNoEvent))
    d = "recording_begin differs";
  return d;
}

}  // namespace

std::string Difference(const Trace& a, const Trace& b) {
  const auto device = [](const run::DeviceProfile& p) {
    return std::tie(p.key, p.name, p.memory_bytes, p.context_bytes, p.sm_count,
                    p.max_threads_per_sm, p.compute_capability, p.blas_workspace_bytes,
                    p.bandwidth_bytes_per_s, p.fp32_flops, p.tf32_flops, p.bf16_flops, p.source);
  };
  const auto model = [](const ModelSummary& m) {
    return std::tie(m.name, m.parameter_count, m.trainable_count, m.parameter_bytes, m.layers);
  };
  const auto info = [](const TraceInfo& i) {
    return std::tie(i.producer, i.title, i.backend, i.measured, i.has_config, i.start_unix_ns,
                    i.source, i.alloc_conf, i.content, i.has_times, i.statistics);
  };
  if (info(a.info) != info(b.info)) return "info differs";
  if (device(a.info.device) != device(b.info.device)) return "device differs";
  if (model(a.info.model) != model(b.info.model)) return "model differs";
  if (a.info.has_config && run::ToJson(a.info.config) != run::ToJson(b.info.config))
    return "config differs";
  if (a.complete != b.complete || a.end_message != b.end_message) return "end differs";
  if (a.markers.size() != b.markers.size()) return "markers differ";
  for (size_t i = 0; i < a.markers.size(); ++i)
    if (a.markers[i].event != b.markers[i].event || a.markers[i].time_ns != b.markers[i].time_ns ||
        a.markers[i].name != b.markers[i].name)
      return fmt::format("marker {} differs", i);
  return Compare(a, b, false);
}

std::string PrefixDifference(const Trace& part, const Trace& whole) {
  return Compare(part, whole, true);
}

std::string ListEvents(const std::string& file_bytes) {
  FrameDecoder frames;
  frames.Append(file_bytes);
  std::string out;
  uint64_t index = 0;
  int version = 0;
  while (true) {
    auto frame = frames.Next();
    if (!frame.ok() || !frame->has_value()) return out;
    const std::string& payload = (*frame)->payload;
    if ((*frame)->type == FrameType::kTraceHeader) version = payload[1];  // its first field
    if ((*frame)->type == FrameType::kStacks) {
      const auto stacks = DecodeStacks(payload);
      if (!stacks.ok()) return out;
      for (size_t i = 0; i < stacks->function.size(); ++i)
        out += fmt::format("frame {} function={} file={} line={}\n", stacks->first_frame + i,
                           stacks->function[i].value, stacks->file[i].value, stacks->line[i]);
      const uint32_t* at = stacks->frames.data();
      for (size_t i = 0; i < stacks->lengths.size(); at += stacks->lengths[i++])
        out += fmt::format("stack {} frames={}\n", stacks->first_stack + i,
                           fmt::join(at, at + stacks->lengths[i], ","));
    }
    if (std::vector<Activity> activities;
        (*frame)->type == FrameType::kActivities && DecodeActivities(payload, activities).ok())
      for (const Activity& a : activities)
        out += fmt::format(
            "activity {} begin={} end={} device={} from={} to={} stream={} thread={} name={} op={} "
            "module={} correlation={} address={} bytes={}\n",
            static_cast<int>(a.kind), a.begin_ns, a.end_ns, a.device, static_cast<int>(a.from),
            static_cast<int>(a.to), a.stream, a.thread, a.name.value, a.op.value, a.module.value,
            a.correlation, a.address, a.bytes);
    if ((*frame)->type != FrameType::kEvents) continue;
    BatchDecoder decoder;
    if (!decoder.Open(payload).ok()) return out;
    std::vector<Event> events(decoder.count());
    decoder.Read(events);
    for (const Event& e : events) {
      out += fmt::format(
          "{} {} time={} id={} address={} bytes={} rounded={} name={} module={} category={} "
          "detail={} stream={} thread={} device={} pool={} duration={}",
          index++, static_cast<int>(e.kind), e.time_ns, e.id, e.address, e.bytes, e.bytes_rounded,
          e.name.value, e.module.value, static_cast<int>(e.category), e.detail, e.stream, e.thread,
          e.device, static_cast<int>(e.pool), e.duration_ns);
      if (version >= 2) out += fmt::format(" stack={} mempool={}", e.stack.value, e.mempool);
      if (version >= 3)
        out += fmt::format(" user_metadata={} compile_context={}", e.user_metadata.value,
                           e.compile_context.value);
      out += '\n';
    }
  }
}

// Lists the trace as text. Leaves out newer fields that are empty, so that older goldens are valid.
std::string ListFacts(const Trace& t) {
  std::string out = fmt::format(
      "producer={} title={} backend={} measured={} device={} model={} start={} complete={} "
      "end={}\n",
      t.info.producer, t.info.title, Name(t.info.backend), t.info.measured, t.info.device.key,
      t.info.model.name, t.info.start_unix_ns, t.complete, t.end_message);
  if (!t.info.source.empty()) out += fmt::format("source={}\n", t.info.source);
  if (!t.info.alloc_conf.empty()) out += fmt::format("alloc_conf={}\n", t.info.alloc_conf);
  if (t.info.content != Content::kRun) out += "content=state\n";
  if (!t.info.has_times) out += "without times\n";
  for (const Statistic& s : t.info.statistics)
    out += fmt::format("statistic {}={}\n", s.name, s.value);
  if (t.recording_begin != kNoEvent) out += fmt::format("recording_begin={}\n", t.recording_begin);
  const auto event = [](EventIndex e) { return e == kNoEvent ? -1 : static_cast<int64_t>(e); };
  for (size_t i = 0; i < t.strings.size(); ++i)
    out += fmt::format("string {} {}\n", i, t.strings[i]);
  for (uint32_t i = 1; i < t.stacks.size(); ++i) {
    out += fmt::format("stack {}", i);
    for (const uint32_t f : t.stacks.Frames({i}))
      out += fmt::format(" | {} {}:{}", t.String(t.stacks.function[f]), t.String(t.stacks.file[f]),
                         t.stacks.line[f]);
    out += '\n';
  }
  const AllocationTable& a = t.allocations;
  for (uint32_t i = 0; i < a.size(); ++i) {
    out += fmt::format(
        "allocation {} events={},{},{} ns={}..{} bytes={}/{} address={:#x} stream={} device={} "
        "pool={} category={}->{} op={} module={} phase={} step={} micro={} segment={}",
        i, event(a.alloc_event[i]), event(a.free_requested_event[i]), event(a.free_event[i]),
        a.begin_ns[i], a.end_ns[i], a.bytes[i], a.bytes_rounded[i], a.address[i], a.stream[i],
        a.device[i], static_cast<int>(a.pool[i]), Name(a.birth_category[i]), Name(a.category[i]),
        t.String(a.op[i]), t.String(a.module[i]), Name(a.phase[i]), a.step[i], a.micro_batch[i],
        a.segment[i].valid() ? static_cast<int64_t>(a.segment[i].value) : -1);
    if (const uint8_t rule = t.events.detail[a.alloc_event[i]]; rule != 0)
      out += fmt::format(" rule={}", rule);
    if (const StackId stack = t.events.StackOf(a.alloc_event[i]); stack.value != 0)
      out += fmt::format(" stack={}", stack.value);
    out += '\n';
  }
  const RetagTable& r = t.retags;
  for (uint32_t i = 0; i < r.size(); ++i)
    out += fmt::format("retag event={} allocation={} {}->{}\n", r.event[i], r.allocation[i].value,
                       Name(r.from[i]), Name(r.to[i]));
  const SegmentTable& g = t.segments;
  for (uint32_t i = 0; i < g.size(); ++i) {
    out += fmt::format("segment {} events={},{} bytes={} address={:#x} stream={} pool={}", i,
                       event(g.alloc_event[i]), event(g.free_event[i]), g.bytes[i], g.address[i],
                       g.stream[i], static_cast<int>(g.pool[i]));
    if (g.expandable[i]) out += " expandable";
    if (g.mempool[i] != 0) out += fmt::format(" mempool={}", g.mempool[i]);
    out += '\n';
  }
  const SliceTable& s = t.slices;
  for (uint32_t i = 0; i < s.size(); ++i)
    out += fmt::format(
        "slice {} ns={}..{} events={},{} name={} module={} number={} step={} depth={} thread={}\n",
        Name(s.kind[i]), s.begin_ns[i], s.end_ns[i], event(s.begin_event[i]), event(s.end_event[i]),
        t.String(s.name[i]), t.String(s.module[i]), s.number[i], s.step[i], s.depth[i],
        s.thread[i]);
  for (uint32_t i = 0; i < t.activities.size() + t.operands.size(); ++i) {
    const uint32_t behind = i - t.activities.size();
    const Activity a = i < t.activities.size() ? t.activities.Row(i) : t.operands.Row(behind);
    out += fmt::format(
        "activity {} ns={}..{} device={} memory={}->{} stream={} thread={} name={} op={} module={} "
        "correlation={} address={:#x} bytes={}\n",
        Name(a.kind), a.begin_ns, a.end_ns, a.device, Name(a.from), Name(a.to), a.stream, a.thread,
        t.String(a.name), t.String(a.op), t.String(a.module), a.correlation, a.address, a.bytes);
  }
  for (EventIndex i = 0; i < t.events.size(); ++i) {
    const StringId metadata = t.events.UserMetadataOf(i), context = t.events.CompileContextOf(i);
    if (metadata.value == 0 && context.value == 0) continue;
    out += fmt::format("event {} user_metadata={} compile_context={}\n", i, t.String(metadata),
                       t.String(context));
  }
  for (const Marker& m : t.markers)
    out += fmt::format("marker event={} ns={} {}\n", m.event, m.time_ns, t.String(m.name));
  return out;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace vramscope::trace::testing
