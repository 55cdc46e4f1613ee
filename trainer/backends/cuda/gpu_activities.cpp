#include "trainer/backends/cuda/gpu_activities.h"

#include <fmt/format.h>

#include "profiler/trace/assumptions.h"

namespace vramscope::trainer::cuda {
namespace {

// The time between two flushes. CUPTI's buffers have space for seconds of work. It takes a fraction
// of a millisecond to flush those that are full.
constexpr auto kBetween = std::chrono::milliseconds(100);

uint64_t LeftOut(const cupti::ClientCounts& counts) {
  return counts.consumed.cut + counts.consumed.untimed;
}

}  // namespace

GpuActivities::GpuActivities(Recorder& recorder, int64_t origin_ns)
    : recorder_(recorder), origin_ns_(origin_ns), first_names_(cupti::MemoryCounters::Names()) {
  cupti::Client& client = cupti::Client::The();
  const cupti::ClockFunction clock = cupti::ClockOfProcess();
  const cupti::ClientCounts before = client.counts();
  dropped_before_ = before.dropped;
  left_out_before_ = LeftOut(before);
  const cupti::Report report =
      client.Start(cupti::FindLibrary(), {.receiver = this,
                                          .clock = clock,
                                          .first_names = first_names_,
                                          .environment = !cupti::IsVirtual(clock)});
  for (const cupti::Problem& problem : report.problems)
    Say("CUPTI: " + problem.what, problem.without);
  default_stream_ = client.StreamId(0);
  Ask();
}

void GpuActivities::Now() {
  if (std::chrono::steady_clock::now() - last_ < kBetween) return;
  cupti::Client::The().Flush();
  Ask();
}

void GpuActivities::Finish() {
  if (finished_) return;
  finished_ = true;
  Ask();
  cupti::Client& client = cupti::Client::The();
  client.Stop();
  if (!counters_.problem().empty())
    Say("NVML: " + counters_.problem(), "GPU memory of other processes is not shown");
  const cupti::ClientCounts counts = client.counts();
  if (const uint64_t dropped = counts.dropped - dropped_before_; dropped > 0)
    Say(fmt::format("CUPTI's buffers were too small for {} records", dropped),
        "kernels and memcpys are missing");
  if (const uint64_t left_out = LeftOut(counts) - left_out_before_; left_out > 0)
    Say(fmt::format("{} of CUPTI's records are invalid", left_out), "they are left out");
}

void GpuActivities::Receive(std::span<const trace::Activity> activities,
                            const std::vector<std::string>& names) {
  while (names_.size() < names.size()) names_.push_back(recorder_.Intern(names[names_.size()]));
  rows_.assign(activities.begin(), activities.end());
  for (trace::Activity& row : rows_) {
    row.name = names_[row.name.value];
    if (row.stream == default_stream_) row.stream = 0;
    row.begin_ns -= origin_ns_;
    row.end_ns -= origin_ns_;
  }
  recorder_.OnActivities(rows_);
}

void GpuActivities::Ask() {
  last_ = std::chrono::steady_clock::now();
  std::vector<std::string> names = {""};
  names.insert(names.end(), first_names_.begin(), first_names_.end());
  Receive(counters_.Ask(static_cast<int64_t>(cupti::ClockOfProcess()())), names);
}

void GpuActivities::Say(const std::string& what, const std::string& without) {
  recorder_.Marker(trace::AssumptionMarker({fmt::format("{}: {}", what, without), "CUPTI", 0}));
}

}  // namespace vramscope::trainer::cuda
