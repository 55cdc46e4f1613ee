#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "app/cli/command.h"
#include "app/cli/doctor.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/device_memory.h"
#include "profiler/program/interpreters.h"
#include "profiler/program/launch.h"
#include "profiler/program/program.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;
using trace::ActivityKind;
using trace::MemorySpace;
using trace::Trace;

struct Run {
  std::string problem;  // "": no problem
  Json answer;          // printed by doctor.py
  std::shared_ptr<const Trace> trace;
};

Run Execute(const program::Platform& platform, const std::string& python,
            const run::DeviceProfile* planned_on, bool activities) {
  Run run;
  const absl::StatusOr<std::unique_ptr<program::ScratchFolder>> folder =
      program::ScratchFolder::Make();
  const fs::path path = folder.ok() ? (*folder)->path() : "";
  const fs::path output = path / "hooks", answer = path / "answer.json";
  std::error_code error;
  if (!folder.ok() || !fs::create_directory(output, error)) {
    run.problem = i18n::Text("there is no folder for temporary files; set TMPDIR");
    return run;
  }
  program::LaunchOptions options;
  options.command = {python,
                     (fs::path(platform.hooks).parent_path() / "vramscope/doctor.py").string(),
                     answer.string()};
  options.planned = planned_on != nullptr;
  if (planned_on != nullptr) options.device = *planned_on;
  options.steps = 0;
  options.activities = activities;
  options.output = output.string();
  options.stdout_to_stderr = true;
  const program::Outcome outcome = program::Launch(platform, options);
  std::ifstream file(answer);
  run.answer = Json::parse(file, nullptr, false);
  if (!outcome.started.ok() || outcome.exit_status != 0 || !run.answer.is_object()) {
    run.problem = outcome.started.ok()
                      ? i18n::Format("the test program ended with status {}", outcome.exit_status)
                      : std::string(outcome.started.message());
    return run;
  }
  program::ReadOptions read;
  read.planned = options.planned;
  read.device = options.device;
  const absl::StatusOr<program::Program> seen = program::ReadProgram(output.string(), read);
  if (!seen.ok() || seen->runs.size() != 1)
    run.problem = i18n::Text("the trace of the test program cannot be read");
  else
    run.trace = seen->runs.front().trace;
  return run;
}

uint64_t Number(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

Finding Equal(const char* what, uint64_t ours, const char* whose, uint64_t theirs) {
  return {ours == theirs && theirs > 0 ? State::kPass : State::kFail, what,
          i18n::Format("the trace contains {} bytes; torch.cuda.{}() returned {} bytes", ours,
                       whose, theirs)};
}

std::vector<Finding> CheckRun(const Run& run) {
  const Trace& t = *run.trace;
  std::set<std::pair<uint64_t, uint64_t>> ours, theirs;
  uint64_t allocated = 0, reserved = 0;
  for (uint32_t i = 0; i < t.allocations.size(); ++i) {
    if (t.allocations.free_requested_event[i] != trace::kNoEvent) continue;
    ours.emplace(t.allocations.address[i], t.allocations.bytes_rounded[i]);
    allocated += t.allocations.bytes_rounded[i];
  }
  for (uint32_t i = 0; i < t.segments.size(); ++i)
    if (t.segments.free_event[i] == trace::kNoEvent) reserved += t.segments.bytes[i];
  const auto blocks = run.answer.find("blocks");
  if (blocks != run.answer.end() && blocks->is_array())
    for (const Json& block : *blocks)
      if (block.is_array() && block.size() == 2 && block[0].is_number_unsigned() &&
          block[1].is_number_unsigned())
        theirs.emplace(block[0].get<uint64_t>(), block[1].get<uint64_t>());
  std::vector<Finding> findings;
  findings.push_back({ours == theirs && !ours.empty() ? State::kPass : State::kFail, "tracker",
                      ours == theirs
                          ? i18n::Format("after {} events, the trace has {} live blocks; "
                                         "_snapshot() lists the same {} blocks",
                                         t.events.size(), ours.size(), theirs.size())
                          : i18n::Format("after {} events, the trace has {} live blocks; "
                                         "_snapshot() lists {} blocks, which are not the same",
                                         t.events.size(), ours.size(), theirs.size())});
  findings.push_back(
      Equal("categories", allocated, "memory_allocated", Number(run.answer, "memory_allocated")));
  findings.push_back(
      Equal("segments", reserved, "memory_reserved", Number(run.answer, "memory_reserved")));
  const explain::DeviceMemory gpu = explain::DeviceMemoryHistory(t).At(trace::kNoEvent);
  const auto* rest = gpu.Of(explain::DeviceMemory::What::kRemainder);
  constexpr int64_t kMost = 10;  // the percentage of used memory that may remain unexplained
  if (rest == nullptr)
    findings.push_back({State::kSkip, "card", i18n::Text("NVML was not queried")});
  else
    findings.push_back(
        {std::abs(rest->bytes) * 100 <= gpu.used * kMost ? State::kPass : State::kFail, "card",
         i18n::Format("{} bytes were in use at the end; {} of them are not accounted for", gpu.used,
                      rest->bytes)});
  const trace::ActivityTable& a = t.activities;
  std::set<std::pair<uint64_t, uint64_t>> driver, segments;
  size_t kernels = 0;
  for (uint32_t i = 0; i < a.size(); ++i) {
    kernels += a.kind[i] == ActivityKind::kKernel;
    if (a.to[i] != MemorySpace::kDevice) continue;
    if (a.kind[i] == ActivityKind::kDriverAlloc) driver.emplace(a.address[i], a.bytes[i]);
    if (a.kind[i] == ActivityKind::kDriverFree) driver.erase({a.address[i], a.bytes[i]});
  }
  for (uint32_t i = 0; i < t.segments.size(); ++i)
    if (t.segments.free_event[i] == trace::kNoEvent && t.segments.expandable[i] == 0)
      segments.emplace(t.segments.address[i], t.segments.bytes[i]);
  if (a.size() == 0) {
    findings.push_back(
        {State::kSkip, "driver memory", i18n::Text("CUPTI recorded nothing of this program")});
  } else {
    // the driver's list also contains allocations by libraries such as NCCL and cuBLAS
    size_t missing = 0;
    for (const auto& segment : segments) missing += !driver.contains(segment);
    findings.push_back(
        {missing == 0 && !segments.empty() ? State::kPass : State::kFail, "driver memory",
         i18n::Format(
             "of {} segments, {} are missing from the {} live allocations that CUPTI recorded",
             segments.size(), missing, driver.size())});
    findings.push_back({kernels > 0 ? State::kPass : State::kFail, "kernels",
                        i18n::Format("{} in the trace", kernels)});
  }
  return findings;
}

// Compares one list of named values: for every name, the planned value must equal the real value.
Finding Compare(const char* what, const char* list, const Json& planned, const Json& seen) {
  size_t same = 0, all = 0;
  std::string others;
  const Json none = Json::object();
  const Json& theirs = seen.contains(list) ? seen[list] : none;
  const Json& ours = planned.contains(list) ? planned[list] : none;
  for (const auto& [name, value] : theirs.items()) {
    ++all;
    const bool equal = ours.contains(name) && ours[name] == value;
    same += equal;
    if (!equal)
      others += i18n::Format("; {}: planned {}, measured {}", name,
                             ours.contains(name) ? ours[name].dump() : i18n::Text("nothing"),
                             value.dump());
  }
  return {same == all && all > 0 ? State::kPass : State::kFail, what,
          i18n::Format("in {} of {} cases, the allocated bytes, reserved bytes and number of "
                       "requests match the plan{}",
                       same, all, others)};
}

}  // namespace

std::vector<Finding> CheckPyTorch(const std::string& python,
                                  const std::optional<run::DeviceProfile>& device) {
  std::string interpreter = python;
  if (interpreter.empty())
    for (const program::Interpreter& i : program::FindInterpreters("", program::OwnPlaces()))
      if (i.build == program::TorchBuild::kCuda && interpreter.empty()) interpreter = i.path;
  if (interpreter.empty())
    return {
        {State::kSkip, "pytorch",
         i18n::Text(
             "no Python with a CUDA build of PyTorch was found, so the allocator, the "
             "configurations and the operators were not checked; name a Python with --python")}};
  const absl::StatusOr<program::Platform> platform = program::FindPlatform(device.has_value());
  if (!platform.ok()) return {{State::kFail, "pytorch", std::string(platform.status().message())}};
  const Run seen = Execute(*platform, interpreter, nullptr, true);
  if (!seen.problem.empty()) return {{State::kFail, "pytorch", interpreter + ": " + seen.problem}};
  std::vector<Finding> findings = {
      {State::kPass, "pytorch",
       i18n::Format("version {} of {}", seen.answer.value("torch", "?"), interpreter)}};
  for (Finding& finding : CheckRun(seen)) findings.push_back(std::move(finding));
  if (OnEmulatedPlatform()) {
    findings.push_back({State::kSkip, "overhead", i18n::Text("not checked on an emulated GPU")});
  } else {
    const Run bare = Execute(*platform, interpreter, nullptr, false);
    const double with = seen.answer.value("step_seconds", 0.0);
    const double without = bare.problem.empty() ? bare.answer.value("step_seconds", 0.0) : 0;
    constexpr double kMost = 1.1;
    if (with <= 0 || without <= 0)
      findings.push_back({State::kFail, "overhead",
                          i18n::Format("the step times could not be measured: {}", bare.problem)});
    else
      findings.push_back(
          {with / without <= kMost ? State::kPass : State::kFail, "overhead",
           i18n::Format(
               "a step takes {:.3f} ms with CUPTI and {:.3f} ms without CUPTI (factor {:.2f})",
               with * 1e3, without * 1e3, with / without)});
  }
  if (!device) {
    findings.push_back(
        {State::kSkip, "planned", i18n::Text("this GPU is not in the device table")});
    return findings;
  }
  const Run planned = Execute(*platform, interpreter, &*device, true);
  if (!planned.problem.empty()) {
    findings.push_back({State::kFail, "planned", planned.problem});
    return findings;
  }
  findings.push_back(Compare("configurations", "configurations", planned.answer, seen.answer));
  findings.push_back(Compare("operators", "operators", planned.answer, seen.answer));
  return findings;
}

}  // namespace vramscope::cli
