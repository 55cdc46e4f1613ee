#include "tests/fuzz/recording_checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "profiler/trace/builder_sink.h"

namespace vramscope::fuzz {
namespace {

using recording::Recording;

// Of() returns all fields as a tuple, so that values can be compared.
auto Of(const recording::BlockState& b) {
  return std::tuple(b.address, b.bytes, b.requested, b.use, b.stack, b.recorded_category);
}
auto Of(const recording::SegmentState& s) {
  return std::tuple(s.address, s.bytes, s.stream, s.device, s.pool, s.expandable, s.mempool,
                    s.stack);
}
auto Of(const recording::Annotation& a) {
  return std::tuple(a.name, a.begin_ns, a.end_ns, a.device);
}
auto Of(const recording::OlderAlloc& o) {
  return std::tuple(o.address, o.requested, o.bytes, o.bytes_known, o.stream, o.device, o.pending,
                    o.stack);
}

bool Same(const auto& a, const auto& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (Of(a[i]) != Of(b[i])) return false;
  return true;
}

bool SameSegments(const Recording& a, const Recording& b) {
  if (!Same(a.segments, b.segments)) return false;
  for (size_t i = 0; i < a.segments.size(); ++i)
    if (!Same(a.segments[i].blocks, b.segments[i].blocks)) return false;
  return true;
}

}  // namespace

void CheckRecording(const Recording& r) {
  const recording::EntryTable& e = r.entries;
  const uint32_t n = e.size();
  Check(e.address.size() == n && e.bytes.size() == n && e.time_ns.size() == n &&
            e.stack.size() == n && e.stream.size() == n,
        "columns of different lengths");
  Check(e.device.empty() || e.device.size() == n, "device column");
  Check(e.recorded_category.empty() || e.recorded_category.size() == n, "category column");
  for (const auto* column : {&e.user_metadata, &e.compile_context}) {
    Check(column->empty() || column->size() == n, "a column of strings");
    for (const trace::StringId id : *column)
      Check(id.value < r.strings.size(), "string of an entry");
  }
  for (const recording::Action action : e.action)
    Check(r.content == trace::Content::kRun || action > recording::Action::kSegmentUnmap,
          "a state with entries that tell what happened");
  for (uint32_t i = 0; i < n; ++i) {
    Check(i == 0 || e.time_ns[i - 1] <= e.time_ns[i], "time goes backwards");
    Check(e.stack[i].value < r.stacks.size(), "stack of an entry");
    Check(e.stream[i] < r.streams.size(), "stream of an entry");
  }
  for (uint32_t s = 0; s < r.stacks.size(); ++s)
    for (const uint32_t f : r.stacks.Frames({s})) Check(f < r.stacks.frame_count(), "frame");
  for (uint32_t f = 0; f < r.stacks.frame_count(); ++f)
    Check(
        r.stacks.function[f].value < r.strings.size() && r.stacks.file[f].value < r.strings.size(),
        "string of a frame");
  for (const recording::SegmentState& s : r.segments) {
    Check(s.address + s.bytes >= s.address, "segment beyond the address space");
    Check(s.stream < r.streams.size() && s.stack.value < r.stacks.size(), "segment");
    for (const recording::BlockState& b : s.blocks)
      Check(b.stack.value < r.stacks.size() && b.address + b.bytes >= b.address, "block");
  }
  for (const recording::OlderAlloc& o : r.older)
    Check(o.stack.value < r.stacks.size() && o.stream < r.streams.size(), "older allocation");
  for (const trace::Activity& activity : r.activities)
    Check(trace::CheckActivity(activity, r.strings.size()).ok(), "an activity that is none");
  for (size_t i = 0; i < r.extras.size(); ++i)
    Check(r.extras[i].name.value < r.strings.size() &&
              r.extras[i].module.value < r.strings.size() &&
              (i == 0 || r.extras[i - 1].time_ns <= r.extras[i].time_ns),
          "a further event");
  for (const recording::Annotation& a : r.annotations)
    Check(a.name.value < r.strings.size() && a.begin_ns <= a.end_ns, "annotation");
}

void CheckTrace(const Recording& r) {
  const auto history = recording::Reconstruct(r);
  Check(history.ok(), "no history of a recording");
  recording::Labels labels;
  const uint32_t n = history->allocations.size();
  labels.category.resize(n);
  labels.rule.resize(n);
  labels.op.resize(n);
  labels.module.resize(n);
  trace::BuilderSink sink;
  recording::Emit(r, *history, labels, sink);
  Check(sink.status().ok(), "the trace refuses an event: " + std::string(sink.status().message()));
}

std::string Difference(const Recording& a, const Recording& b) {
  const auto& x = a.entries;
  const auto& y = b.entries;
  const auto& s = a.stacks;
  const auto& t = b.stacks;
  if (a.source != b.source || a.alloc_conf != b.alloc_conf || a.start_unix_ns != b.start_unix_ns ||
      a.has_segments != b.has_segments || a.bytes_are_blocks != b.bytes_are_blocks ||
      a.overflowed != b.overflowed || a.labels_are_inferred != b.labels_are_inferred ||
      a.labels_are_complete != b.labels_are_complete || a.has_times != b.has_times ||
      a.content != b.content || a.lost != b.lost)
    return "facts of the whole recording";
  for (size_t i = 0; i < std::max(a.warnings.size(), b.warnings.size()); ++i) {
    const std::string x = i < a.warnings.size() ? a.warnings[i] : "";
    const std::string y = i < b.warnings.size() ? b.warnings[i] : "";
    if (x != y) return "warnings: '" + x + "' and '" + y + "'";
  }
  if (a.strings != b.strings || a.streams != b.streams) return "strings or streams";
  if (s.function != t.function || s.file != t.file || s.line != t.line || s.first != t.first ||
      s.frames != t.frames)
    return "stacks";
  if (x.action != y.action || x.address != y.address || x.bytes != y.bytes) return "entries";
  if (x.time_ns != y.time_ns) return "times";
  if (x.stack != y.stack || x.stream != y.stream) return "stacks or streams of entries";
  if (x.device != y.device || x.recorded_category != y.recorded_category)
    return "devices or categories of entries";
  if (x.user_metadata != y.user_metadata || x.compile_context != y.compile_context)
    return "metadata or compile contexts of entries";
  if (!SameSegments(a, b)) return "segments";
  if (!Same(a.older, b.older)) return "older allocations";
  if (!Same(a.annotations, b.annotations)) return "annotations";
  return "";
}

}  // namespace vramscope::fuzz
