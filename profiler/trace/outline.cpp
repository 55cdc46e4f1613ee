#include "profiler/trace/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/footer_file.h"
#include "profiler/trace/input.h"

namespace vramscope::trace {
namespace {

// Returns the error for a file without a trace header. Names the format that it seems to have.
absl::Status NotATrace(const std::string& path, InputStream& input) {
  std::string head(512, '\0');
  const absl::StatusOr<size_t> n = input.Read(head.data(), head.size());
  head.resize(n.value_or(0));
  const std::string kind = LooksLike(head);
  return absl::InvalidArgumentError(
      kind.empty() ? i18n::Format("'{}' is not a .trace", path)
                   : i18n::Format("'{}' is not a .trace: it looks like {}", path, kind));
}

// Code that draws the outline subtracts times. Returns whether all differences fit into an int64_t.
bool TimesAreApartAsANumberSays(const Outline& o) {
  int64_t first = o.begin_ns(), last = o.end_ns(), apart = 0;
  for (const Outline::Slice& slice : o.steps_and_phases) {
    first = std::min(first, slice.begin_ns);
    last = std::max(last, slice.end_ns);
  }
  return !__builtin_sub_overflow(last, first, &apart) && first < INT64_MAX;
}

}  // namespace

absl::StatusOr<Outline> ReadOutline(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<InputStream>> input = InputStream::Open(path);
  if (!input.ok()) return input.status();
  const FooterFile file(path);
  if (file.bytes() == 0 || (*input)->compressed())
    return absl::InvalidArgumentError(
        i18n::Format("'{}' has no index. Only plain .trace files have an index; pipes and gzip or "
                     "zstd files have none",
                     DisplayName(path)));
  const std::optional<Frame> first = file.At(0);
  if (!first.has_value() || first->type != FrameType::kTraceHeader) return NotATrace(path, **input);
  absl::StatusOr<Header> header = DecodeHeader(first->payload);
  if (!header.ok()) return header.status();
  const std::optional<Footer> footer = file.FindFooter();
  if (!footer.has_value())
    return absl::DataLossError(
        i18n::Format("'{}' is cut off and has no index; omit --outline to read all of it", path));

  Outline out;
  out.info = std::move(header->info);
  out.file_bytes = file.bytes();
  out.events = footer->events;
  out.activities = footer->activities;
  out.allocations = footer->allocations;
  out.slices = footer->slices;
  out.strings = footer->strings;
  out.complete = footer->complete;
  out.end_message = footer->end_message;
  uint64_t events = 0, activities = 0;
  bool good = true;
  for (const Footer::Batch& b : footer->batches) {
    good = good && b.offset < file.bytes() && b.first_event == events &&
           b.first_time_ns <= b.last_time_ns &&
           (out.batches.empty() || out.batches.back().end_ns <= b.first_time_ns);
    events += b.count;
    out.batches.push_back(
        {b.first_time_ns, b.last_time_ns, b.count, b.peak_allocated, b.peak_reserved});
  }
  for (const Footer::ActivityBatch& b : footer->activity_batches) {
    good = good && b.offset < file.bytes() && b.first_begin_ns <= b.last_end_ns;
    activities += b.count;
    out.activity_batches.push_back({b.first_begin_ns, b.last_end_ns, b.count});
  }
  for (const Footer::Slice& s : footer->outline) {
    good = good && s.begin_ns <= s.end_ns &&
           (out.steps_and_phases.empty() || out.steps_and_phases.back().begin_ns <= s.begin_ns);
    out.steps_and_phases.push_back({s.kind, s.number, s.begin_ns, s.end_ns, s.count});
  }
  if (!good || events != out.events || activities != out.activities ||
      !TimesAreApartAsANumberSays(out))
    return absl::DataLossError(i18n::Format("the index of '{}' is inconsistent", path));
  return out;
}

int64_t Outline::begin_ns() const {
  int64_t first = batches.empty() ? INT64_MAX : batches.front().begin_ns;
  for (const Activities& a : activity_batches) first = std::min(first, a.begin_ns);
  return batches.empty() && activity_batches.empty() ? 0 : first;
}

int64_t Outline::end_ns() const {
  int64_t last = batches.empty() ? INT64_MIN : batches.back().end_ns;
  for (const Activities& a : activity_batches) last = std::max(last, a.end_ns);
  return batches.empty() && activity_batches.empty() ? 0 : last;
}

uint64_t Outline::peak_allocated() const {
  uint64_t peak = 0;
  for (const Batch& b : batches) peak = std::max(peak, b.peak_allocated);
  return peak;
}

uint64_t Outline::peak_reserved() const {
  uint64_t peak = 0;
  for (const Batch& b : batches) peak = std::max(peak, b.peak_reserved);
  return peak;
}

}  // namespace vramscope::trace
