#include "emulated/core/host_work.h"

#include <atomic>
#include <string>
#include <utility>

#include "emulated/core/assumptions.h"
#include "emulated/core/clock.h"
#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

// Medians of recordings on the host of an H200 (tests/golden/gpu/h200, PyTorch 2.11), including the
// overhead of the recorder in the process.
//
// The time from the start of one launch to the start of the next, in steps three and four. In
// record_gpt2.trace: 21.2 us within one module of forward (n = 656), 60.5 us from one module to
// another (302), and 25.2 us in backward (1462). In record_resnet50.trace: 31.8, 48.7 and 24.0 us
// (n = 250, 348 and 864).
constexpr int64_t kPythonLaunchNs = 21'000;
constexpr int64_t kModuleNs = 39'000;
constexpr int64_t kEngineLaunchNs = 25'000;
// A foreach optimizer takes 8.6 us from one launch to the next (n = 110). An optimizer that loops
// over its parameters takes 9.5 to 12 us from one operator to the next.
constexpr int64_t kOptimizerLaunchNs = 10'000;
// Times from the beginning of a step to its first allocation, in half of the snapshots. Adam and
// AdamW (3 state tensors per parameter, 24 to 296 parameters, 21 steps) take 0.22 to 0.3 ms plus
// 11.5 us per parameter. SGD with momentum (1 state tensor) takes 5.4 us per parameter, and setting
// gradients to None takes 2.6 us per parameter (12 programs).
constexpr int64_t kStepNs = 300'000;
constexpr int64_t kParameterNs = 2'400, kStateTensorNs = 3'000;
constexpr int64_t kClearedNs = 2'600;

std::atomic<bool> python_is_there{false};
thread_local HostThread thread_runs = HostThread::kUnsaid;

}  // namespace

HostThread HostRuns(HostThread runs) {
  if (runs != HostThread::kUnsaid) python_is_there.store(true, std::memory_order_relaxed);
  return std::exchange(thread_runs, runs);
}

int64_t LaunchHostNs() {
  if (!python_is_there.load(std::memory_order_relaxed)) return Clock::kSubmitNs;
  switch (thread_runs) {
    case HostThread::kPython:
      return kPythonLaunchNs;
    case HostThread::kOptimizer:
      return kOptimizerLaunchNs;
    default:
      return kEngineLaunchNs;
  }
}

int64_t OptimizerHostNs(uint64_t parameters, uint64_t state_tensors) {
  return kStepNs + static_cast<int64_t>(parameters) * kParameterNs +
         static_cast<int64_t>(state_tensors) * kStateTensorNs;
}

void ForgetHostThreads() {
  python_is_there = false;
  thread_runs = HostThread::kUnsaid;
}

}  // namespace vramscope::emulated

using namespace vramscope::emulated;

int vramscope_emulated_host_runs(int runs) {
  static std::atomic<bool> said{false};
  if (runs == static_cast<int>(HostThread::kPython) && !said.exchange(true)) {
    const auto us = [](int64_t ns) { return std::to_string(ns / 1000); };
    Assume("the times of work on the host were recorded on another computer (with an H200): " +
               us(kPythonLaunchNs) + " us per launch and " + us(kModuleNs) +
               " us per module in Python code, and " + us(kEngineLaunchNs) +
               " us per launch in backward. These times include the recorder's overhead",
           "host times", 0);
  }
  const bool known = runs >= static_cast<int>(HostThread::kUnsaid) &&
                     runs <= static_cast<int>(HostThread::kOptimizer);
  return static_cast<int>(HostRuns(known ? static_cast<HostThread>(runs) : HostThread::kUnsaid));
}

void vramscope_emulated_module_called() { ThePlatform().clock.Submit(kModuleNs); }

void vramscope_emulated_optimizer_step(uint64_t parameters, uint64_t state_tensors, int first) {
  if (first != 0) vramscope_emulated_first_optimizer_step();
  ThePlatform().clock.Submit(OptimizerHostNs(parameters, state_tensors));
}

void vramscope_emulated_gradients_cleared(uint64_t parameters) {
  ThePlatform().clock.Submit(static_cast<int64_t>(parameters) * kClearedNs);
}

void vramscope_emulated_host_works(int64_t ns) {
  if (ns > 0) ThePlatform().clock.Submit(ns);
}

void vramscope_emulated_first_optimizer_step() {
  // How much longer the first step takes on the host than the third step, because PyTorch imports
  // modules and kernels are loaded. This is the median of 24 training runs on an H200, which range
  // from 15 to 81 ms (tests/golden/gpu/h200/summary.json).
  constexpr int64_t kLongerNs = 49'000'000;
  vramscope_emulated_host_works(kLongerNs);
}
