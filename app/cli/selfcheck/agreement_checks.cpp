#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/cli/selfcheck/subject.h"
#include "profiler/analysis/requests.h"
#include "profiler/base/i18n.h"

namespace vramscope::cli::selfcheck {
namespace {

uint64_t Highest(const Json& array, const char* key) {
  uint64_t most = 0;
  for (const Json& row : array)
    if (At(row, key).is_number_integer()) most = std::max(most, At(row, key).get<uint64_t>());
  return most;
}

void CheckPhases(const Subject& s, const Json& peak) {
  const Json phases = s.Ask("phases", {}).json;
  const Json& steps = At(phases, "steps");
  const Json& outside = At(phases, "outside_steps");
  s.report.Equal(TEXT_MARK("`phases` and `info` report the same number of steps"), steps.size(),
                 s.device.empty() ? At(s.info, "steps") : Json(steps.size()));
  s.report.Equal(TEXT_MARK("`phases` and `info` report the same value of `measured`"),
                 At(phases, "measured"), At(s.info, "measured"));
  const uint64_t allocated =
      At(peak, "allocated").is_null() ? 0 : At(peak, "allocated").get<uint64_t>();
  const uint64_t reserved =
      At(peak, "peak_reserved").is_null() ? 0 : At(peak, "peak_reserved").get<uint64_t>();
  for (const Json* rows : {&steps, &outside}) {
    s.report.True(TEXT_MARK("no phase has more allocated memory than the peak"),
                  Highest(*rows, "peak_allocated") <= allocated);
    s.report.True(TEXT_MARK("no phase has more reserved memory than the peak"),
                  Highest(*rows, "peak_reserved") <= reserved);
  }
  const Json& step = At(peak, "at", "step");
  for (const Json& row : steps) {
    const std::string name = i18n::English("step {}", At(row, "index").dump()) + ": ";
    if (At(row, "index") == step)
      s.report.Equal(
          name + TEXT_MARK("`phases` and `peak` report the same peak of allocated memory"),
          At(row, "peak_allocated"), At(peak, "allocated"));
    if (!At(row, "total_ms").is_number()) continue;
    const double total = At(row, "total_ms").get<double>();
    double parts = 0;
    for (const char* key : {"forward_ms", "backward_ms", "optimizer_ms"})
      if (At(row, key).is_number()) parts += At(row, key).get<double>();
    s.report.True(name + TEXT_MARK("the phases of the step do not take longer than the step"),
                  parts <= total * 1.000001 + 1e-6, fmt::format("{} ms of {} ms", parts, total));
    s.report.True(name + TEXT_MARK("the step does not end before it begins"),
                  At(row, "begin_ns").get<int64_t>() <= At(row, "end_ns").get<int64_t>());
  }
}

void CheckExplained(const Subject& s, const Json& peak) {
  const Json oom = At(s.Ask("explain", {"--page", "oom", "--no-replay"}).json, "oom");
  if (s.device.empty())
    s.report.Equal(TEXT_MARK("`explain` and `info` report the same number of failed allocations"),
                   At(oom, "count"), At(s.info, "out_of_memory"));
  for (const Json& event : At(oom, "events")) {
    const std::string number = At(event, "event").dump();
    const Json then = s.Ask("peak", {"--event", number, "--top", "1"}).json;
    for (const char* key : {"allocated", "requested", "reserved", "by_category"})
      s.report.Equal(
          i18n::English("at the out-of-memory event {}, `explain` and `peak` report the same `{}`",
                        number, key),
          At(event, key), At(then, key));
  }
  const Json sites = At(s.Ask("explain", {"--page", "sites", "--top", "1000000"}).json, "sites");
  const uint64_t older = At(s.info, "older_allocations").get<uint64_t>();
  if (s.device.empty() && At(s.info, "content") == "run")
    s.report.Equal(
        TEXT_MARK("the allocations of all call sites add up to the number that `info` reports"),
        Sum(At(sites, "sites"), "count"), At(s.info, "allocations").get<uint64_t>() - older);
  s.report.Equal(TEXT_MARK("`count` is the number of listed call sites"), At(sites, "count"),
                 At(sites, "sites").size());
  const Answer reclaim = s.Ask("explain", {"--page", "reclaim"});
  if (!reclaim.ok()) return;  // cannot be replayed; replay_checks reports why
  const Json& r = At(reclaim.json, "reclaim");
  const Json then = At(
      s.Ask("explain", {"--page", "fragmentation", "--no-replay", "--event", At(r, "event").dump()})
          .json,
      "fragmentation");
  for (const char* key : {"allocated", "reserved", "cached", "holes"})
    s.report.Equal(i18n::English("at the time with the most unused memory, the pages `reclaim` and "
                                 "`fragmentation` report the same `{}`",
                                 key),
                   At(r, key), At(then, key));
  s.report.True(
      TEXT_MARK(
          "at the time with the most unused memory, reserved memory does not exceed its peak"),
      At(r, "reserved").get<uint64_t>() <= At(peak, "peak_reserved").get<uint64_t>());
}

}  // namespace

void CheckAgreement(const Subject& s) {
  s.Begin(TEXT_MARK("commands agree"));
  const Json peak = s.Ask("peak", {"--top", "1"}).json;
  s.report.Equal(TEXT_MARK("`info` and `peak` report the same peak of allocated memory"),
                 At(s.of_device, "allocated"), At(peak, "allocated"));
  s.report.Equal(
      TEXT_MARK("the analysis library and `peak` report the same peak of allocated memory"),
      s.peak.allocated, At(peak, "allocated"));
  s.report.Equal(TEXT_MARK("`info` and `peak` report the same peak of reserved memory"),
                 At(s.of_device, "reserved"), At(peak, "peak_reserved"));
  s.report.Equal(TEXT_MARK("`info` reports as many allocations as the trace contains"),
                 At(s.of_device, "allocations"), s.trace->allocations.size());
  for (const Json& memory : At(s.info, "device_memory"))
    if (At(memory, "device") == At(s.of_device, "device"))
      s.report.Equal(TEXT_MARK("`info` and `peak` report the same device memory"), memory,
                     At(peak, "device_memory"));
  CheckPhases(s, peak);
  CheckExplained(s, peak);
}

void CheckBudget(const Subject& s) {
  s.Begin(TEXT_MARK("`check` passes with the needed memory as the budget, and fails with less"));
  const Answer judged = s.Ask("check", {"--budget", "1048575TiB"});
  if (!judged.json.is_object()) {
    // If no GPU memory was recorded, `check` must refuse the file.
    if (s.peak.reserved == 0) return s.report.Skip(judged.error);
    return s.report.True(TEXT_MARK("`check` gives a result"), false, judged.error);
  }
  const Json& c = judged.json;
  const Json& needed = At(c, "needed");
  s.report.Equal(TEXT_MARK("`check` and `info` report the same peak of allocated memory"),
                 At(c, "peak", "allocated"), At(s.of_device, "allocated"));
  s.report.Equal(TEXT_MARK("`check` and `info` report the same peak of reserved memory"),
                 At(c, "peak", "reserved"), At(s.of_device, "reserved"));
  s.report.Equal(TEXT_MARK("the categories add up to the allocated memory"),
                 Sum(At(c, "peak_by_category")), At(c, "peak", "allocated"));
  s.report.Equal(TEXT_MARK("with a budget of 1048575 TiB, `check` reports an excess of 0 bytes"),
                 At(c, "over"), 0);
  if (!needed.is_number_integer())
    return s.report.True(TEXT_MARK("`check` reports the needed memory"), false, c.dump());
  const uint64_t bytes = needed.get<uint64_t>();
  s.report.True(
      TEXT_MARK("the needed memory is at least the peak of reserved memory plus the CUDA context"),
      bytes >= At(c, "peak", "reserved").get<uint64_t>() + At(c, "context").get<uint64_t>());
  if (bytes <= uint64_t{1} << 20) return;  // --budget accepts no smaller value
  const bool out_of_memory = At(c, "out_of_memory") == true && At(c, "went_on") != true;
  const Answer enough = s.Ask("check", {"--budget", fmt::format("{}", bytes)});
  s.report.Equal(
      TEXT_MARK("if the budget is the needed memory, `check` exits with the expected status"),
      enough.exit_code, int{out_of_memory ? kBadInput : kDone});
  s.report.Equal(
      TEXT_MARK("if the budget is the needed memory, `check` reports an excess of 0 bytes"),
      At(enough.json, "over"), 0);
  const Answer less = s.Ask("check", {"--budget", fmt::format("{}", bytes - 1)});
  s.report.Equal(
      TEXT_MARK("if the budget is 1 byte less than the needed memory, `check` exits with status 1"),
      less.exit_code, int{kNo});
  s.report.Equal(TEXT_MARK("if the budget is 1 byte less than the needed memory, `check` reports "
                           "an excess of 1 byte"),
                 At(less.json, "over"), 1);
}

void CheckRequests(const Subject& s) {
  s.Begin("requests");
  std::ostringstream csv;
  analysis::WriteRequestsCsv(*s.trace, csv);
  const auto stream = analysis::ReadRequestsCsv(csv.str());
  if (!stream.ok())
    return s.report.True(TEXT_MARK("the CSV of `requests` can be read"), false,
                         std::string(stream.status().message()));
  uint64_t allocations = 0, frees = 0, live = 0, most = 0;
  std::vector<uint64_t> bytes;
  for (const analysis::Request& r : stream->requests) {
    if (r.is_alloc) {
      ++allocations;
      bytes.push_back(r.bytes_rounded);
      most = std::max(most, live += r.bytes_rounded);
    } else {
      ++frees;
      if (r.allocation >= 0 && static_cast<size_t>(r.allocation) < bytes.size())
        live -= bytes[static_cast<size_t>(r.allocation)];
    }
  }
  s.report.Equal(TEXT_MARK("`requests` and `info` report the same number of allocations"),
                 allocations, At(s.of_device, "allocations"));
  s.report.Equal(TEXT_MARK("`requests` and `info` report the same peak of allocated memory"), most,
                 At(s.of_device, "allocated"));
  const uint64_t freed = static_cast<uint64_t>(
      std::ranges::count_if(s.trace->allocations.free_event,
                            [](trace::EventIndex event) { return event != trace::kNoEvent; }));
  s.report.Equal(TEXT_MARK("`requests` reports as many frees as the trace contains"), frees, freed);
}

void CheckKernels(const Subject& s) {
  s.Begin("kernels");
  const uint64_t work =
      At(s.info, "kernels").get<uint64_t>() + At(s.info, "copies").get<uint64_t>();
  Json takes, count;
  for (const char* by : {"name", "op", "module", "phase", "step", "stream", "kind"}) {
    const Answer answer = s.Ask("kernels", {"--by", by, "--top", "1"});
    const Json& groups = At(answer.json, "groups");
    const std::string where = fmt::format("--by {}: ", by);
    s.report.Equal(where + TEXT_MARK("the times of all groups add up to the total time"),
                   Sum(groups, "takes_ns"), At(answer.json, "takes_ns"));
    if (takes.is_null()) {
      takes = At(answer.json, "takes_ns");
      count = Sum(groups, "count");
    }
    s.report.Equal(where + "time", At(answer.json, "takes_ns"), takes);
    s.report.Equal(where + TEXT_MARK("count"), Sum(groups, "count"), count);
    if (std::string_view(by) != "kind" || !s.device.empty()) continue;
    uint64_t both = 0;
    for (const Json& group : groups)
      if (At(group, "name") == "kernel" || At(group, "name") == "memcpy")
        both += At(group, "count").get<uint64_t>();
    s.report.Equal(
        where + TEXT_MARK("`kernels` and `info` report the same number of kernels and copies"),
        both, work);
  }
}

}  // namespace vramscope::cli::selfcheck
