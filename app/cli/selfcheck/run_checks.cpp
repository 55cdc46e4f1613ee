#include <fmt/format.h>

#include "app/cli/selfcheck/subject.h"
#include "profiler/base/i18n.h"

namespace vramscope::cli::selfcheck {
namespace {

Answer Plan(Commands& commands, const std::vector<std::string>& run, const std::string& output) {
  std::vector<std::string> arguments = {"plan"};
  arguments.insert(arguments.end(), run.begin(), run.end());
  arguments.insert(arguments.end(), {"-o", output, "--json"});
  Answer answer = commands.Run(std::move(arguments));
  // Removes the elapsed time, which differs between runs.
  if (answer.json.is_object()) {
    answer.json.erase("seconds");
    answer.json.erase("worker_seconds");
  }
  return answer;
}

}  // namespace

Answer CheckRun(Commands& commands, Report& report, const std::vector<std::string>& run,
                const std::string& file) {
  const Answer first = Plan(commands, run, file);
  if (!first.ok()) return first;
  report.Begin(TEXT_MARK("two plans of the run are equal"));
  const std::string again = commands.folder() / "again.trace";
  const Answer second = Plan(commands, run, again);
  for (const auto& [key, value] : first.json.items())
    report.Equal(
        i18n::English("both plans have the same `{}`", key), value.is_null() ? Json("null") : value,
        At(second.json, key.c_str()).is_null() ? Json("null") : At(second.json, key.c_str()));
  const Answer requests = commands.Run({"diff", "--requests", file, again, "--json"});
  report.Equal(TEXT_MARK("all requests of the two plans are equal"),
               At(requests.json, "requests", "equal"), At(requests.json, "requests", "total"));

  report.Begin(TEXT_MARK("`plan --json` and the trace of the plan agree"));
  const Json info = commands.Run({"info", file, "--json"}).json;
  const Json& plan = first.json;
  const bool one_device = At(info, "peaks").size() == 1;
  if (!one_device) {
    report.Skip(TEXT_MARK("the plan has several devices"));
    return first;
  }
  for (const char* key : {"allocated", "reserved"})
    report.Equal(i18n::English("`plan` and `info` report the same peak of {} memory", key),
                 At(plan, "peak", key), At(info, "peak", key));
  for (const char* key : {"backend", "measured", "model", "parameters", "events", "config"})
    report.Equal(i18n::English("`plan` and `info` report the same `{}`", key), At(plan, key),
                 At(info, key));
  const Json phases = commands.Run({"phases", file, "--json"}).json;
  report.Equal(TEXT_MARK("`plan` and `phases` report the same steps"), At(plan, "steps"),
               At(phases, "steps"));
  const Json peak = commands.Run({"peak", file, "--json"}).json;
  report.Equal(TEXT_MARK("`plan` and `peak` report the same categories"),
               At(plan, "peak_by_category"), At(peak, "by_category"));
  for (const char* key : {"phase", "module", "op", "time_ns"})
    report.Equal(i18n::English("`plan` and `peak` report the same `{}` of the peak", key),
                 At(plan, "peak", key), At(peak, "at", key));
  const Answer check = commands.Run({"check", file, "--budget", "1048575TiB", "--json"});
  const uint64_t needed =
      At(check.json, "needed").is_null() ? 0 : At(check.json, "needed").get<uint64_t>();
  const Json& memory = At(plan, "device_memory");
  if (memory.is_number_integer() && memory.get<uint64_t>() > 0 &&
      At(plan, "headroom").is_number_integer())
    report.Equal(
        TEXT_MARK("the headroom of `plan` is the device memory minus the needed memory of `check`"),
        At(plan, "headroom").get<int64_t>(), static_cast<int64_t>(memory.get<uint64_t>() - needed));
  return first;
}

}  // namespace vramscope::cli::selfcheck
