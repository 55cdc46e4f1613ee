#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/doctor.h"
#include "cupti/client.h"
#include "nvml/sampler.h"
#include "profiler/base/i18n.h"

namespace vramscope::cli {
namespace {

using trace::Activity;
using trace::ActivityKind;

// The driver's functions, with their documented names and signatures.
struct Driver {
  int (*DevicePrimaryCtxRetain)(void** context, int device) = nullptr;
  int (*CtxSetCurrent)(void* context) = nullptr;
  int (*CtxSynchronize)() = nullptr;
  int (*MemAlloc)(uint64_t* address, size_t bytes) = nullptr;
  int (*MemFree)(uint64_t address) = nullptr;
  int (*MemsetD8)(uint64_t address, unsigned char value, size_t bytes) = nullptr;
  int (*MemcpyHtoD)(uint64_t to, const void* from, size_t bytes) = nullptr;
};

template <class Function>
bool Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool LoadAll(Driver& d) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr &&
         Load(library, "cuDevicePrimaryCtxRetain", d.DevicePrimaryCtxRetain) &&
         Load(library, "cuCtxSetCurrent", d.CtxSetCurrent) &&
         Load(library, "cuCtxSynchronize", d.CtxSynchronize) &&
         Load(library, "cuMemAlloc_v2", d.MemAlloc) && Load(library, "cuMemFree_v2", d.MemFree) &&
         Load(library, "cuMemsetD8_v2", d.MemsetD8) &&
         Load(library, "cuMemcpyHtoD_v2", d.MemcpyHtoD);
}

struct Kept : cupti::Receiver {
  void Receive(std::span<const Activity> activities, const std::vector<std::string>&) override {
    all.insert(all.end(), activities.begin(), activities.end());
  }
  std::vector<Activity> all;
};

constexpr size_t kBytes = size_t{8} << 20;
constexpr int kRounds = 4;

// Makes the driver calls that CUPTI should record. Returns false if one of them failed.
bool Work(const Driver& driver, std::vector<uint64_t>& addresses) {
  void* context = nullptr;
  if (driver.DevicePrimaryCtxRetain(&context, 0) != 0 || driver.CtxSetCurrent(context) != 0)
    return false;
  const std::vector<char> host(kBytes);
  for (int i = 0; i < kRounds; ++i) {
    uint64_t address = 0;
    if (driver.MemAlloc(&address, kBytes) != 0 || driver.MemsetD8(address, 1, kBytes) != 0 ||
        driver.MemcpyHtoD(address, host.data(), kBytes) != 0 || driver.CtxSynchronize() != 0 ||
        driver.MemFree(address) != 0)
      return false;
    addresses.push_back(address);
  }
  return true;
}

Finding Allocations(const std::vector<Activity>& all, const std::vector<uint64_t>& made) {
  std::vector<uint64_t> told;
  size_t freed = 0;
  for (const Activity& activity : all) {
    if (activity.to != trace::MemorySpace::kDevice || activity.bytes != kBytes) continue;
    if (activity.kind == ActivityKind::kDriverAlloc) told.push_back(activity.address);
    freed += activity.kind == ActivityKind::kDriverFree;
  }
  const bool same = told == made && freed == made.size();
  return {same ? State::kPass : State::kFail, "allocations",
          same ? i18n::Format("of {} allocations, {} were recorded, all with the right addresses; "
                              "{} frees were recorded",
                              made.size(), told.size(), freed)
               : i18n::Format("of {} allocations, {} were recorded; {} frees were recorded",
                              made.size(), told.size(), freed)};
}

// Checks that no work on the GPU begins before the API call that started it.
Finding Clocks(const std::vector<Activity>& all) {
  std::map<uint64_t, int64_t> calls;
  for (const Activity& activity : all)
    if (activity.kind == ActivityKind::kRuntimeCall || activity.kind == ActivityKind::kDriverCall) {
      const auto [it, added] = calls.try_emplace(activity.correlation, activity.begin_ns);
      if (!added) it->second = std::min(it->second, activity.begin_ns);
    }
  size_t work = 0, early = 0, alone = 0;
  for (const Activity& activity : all) {
    if (activity.kind != ActivityKind::kMemcpy && activity.kind != ActivityKind::kMemset &&
        activity.kind != ActivityKind::kKernel)
      continue;
    ++work;
    const auto call = calls.find(activity.correlation);
    alone += call == calls.end();
    early += call != calls.end() && activity.begin_ns < call->second;
  }
  const bool good = work > 0 && early == 0 && alone == 0;
  return {good ? State::kPass : State::kFail, "clocks",
          i18n::Format("of {} activities, {} began before their API call, and {} have no API call",
                       work, early, alone)};
}

}  // namespace

std::vector<Finding> CheckNvml() {
  constexpr size_t kTaken = size_t{256} << 20;
  nvml::Sampler sampler;
  if (const std::string problem = sampler.Open(); !problem.empty())
    return {{State::kFail, "nvml", i18n::Shown(problem)}};
  Driver driver;
  void* context = nullptr;
  uint64_t address = 0;
  if (!LoadAll(driver) || driver.DevicePrimaryCtxRetain(&context, 0) != 0 ||
      driver.CtxSetCurrent(context) != 0)
    return {{State::kFail, "nvml", i18n::Text("the driver cannot create a context")}};
  const std::vector<nvml::GpuMemory> before = sampler.Now();
  const bool taken = driver.MemAlloc(&address, kTaken) == 0;
  const std::vector<nvml::GpuMemory> after = sampler.Now();
  if (taken) driver.MemFree(address);
  if (!taken || before.empty() || after.empty())
    return {{State::kFail, "nvml",
             i18n::Text(
                 "NVML did not report the memory of this process's GPU, or an allocation failed")}};
  const nvml::GpuMemory &x = before[0], &y = after[0];
  // The figure for the whole GPU may also change because other processes allocate and free
  // meanwhile. The figure for this process is exact.
  const bool seen =
      x.process && y.process ? *y.process == *x.process + kTaken : y.used >= x.used + kTaken / 2;
  return {{seen ? State::kPass : State::kFail, "nvml",
           i18n::Format("{} bytes allocated; memory used by all processes: {} -> {}; memory used "
                        "by this process: {} -> {}",
                        kTaken, x.used, y.used,
                        x.process ? std::to_string(*x.process) : i18n::Text("unknown"),
                        y.process ? std::to_string(*y.process) : i18n::Text("unknown"))}};
}

bool OnEmulatedPlatform() { return cupti::IsVirtual(cupti::ClockOfProcess()); }

std::vector<Finding> CheckCupti() {
  cupti::Found found = cupti::FindLibrary();
  if (!found.problem.empty())
    return {{State::kSkip, "cupti",
             i18n::Format("{}; a program's PyTorch may have its own libcupti",
                          i18n::Shown(found.problem))}};
  const std::string name = found.library.name;
  Driver driver;
  if (!LoadAll(driver))
    return {{State::kFail, "cupti", i18n::Text("libcuda.so.1 lacks functions")}};
  Kept kept;
  cupti::Client& client = cupti::Client::The();
  const cupti::Report report =
      client.Start(std::move(found), {.receiver = &kept, .clock = cupti::ClockOfProcess()});
  std::vector<Finding> findings;
  if (!report.running)
    return {{State::kFail, "cupti",
             i18n::Shown(report.problems.at(0).what + ": " + report.problems.at(0).without)}};
  for (const cupti::Problem& problem : report.problems)
    findings.push_back({State::kSkip, "cupti", i18n::Shown(problem.what + ": " + problem.without)});
  std::vector<uint64_t> addresses;
  const bool worked = Work(driver, addresses);
  client.Stop();
  const cupti::ClientCounts counts = client.counts();
  const bool good = worked && counts.dropped == 0 && counts.consumed.cut == 0;
  findings.push_back(
      {good ? State::kPass : State::kFail, "cupti",
       worked ? i18n::Format("{}, version {}: {} activities, {} dropped", name, report.version,
                             kept.all.size(), counts.dropped)
              : i18n::Format("{}, version {}: {} activities, {} dropped; a driver call failed",
                             name, report.version, kept.all.size(), counts.dropped)});
  findings.push_back(Allocations(kept.all, addresses));
  findings.push_back(Clocks(kept.all));
  return findings;
}

}  // namespace vramscope::cli
