#include "trainer/capture/host_work.h"

#include <atomic>

namespace vramscope::trainer {
namespace {
std::atomic<PassHostTime> g_pass{nullptr};
std::atomic<PassFirstStep> g_first_step{nullptr};
}  // namespace

void SetHostTime(PassHostTime pass, PassFirstStep first_step) {
  g_pass.store(pass, std::memory_order_relaxed);
  g_first_step.store(first_step, std::memory_order_relaxed);
}

void FirstOptimizerStep() {
  if (const PassFirstStep step = g_first_step.load(std::memory_order_relaxed)) step();
}

void HostWorks(int64_t ns) {
  if (const PassHostTime pass = g_pass.load(std::memory_order_relaxed)) pass(ns);
}

}  // namespace vramscope::trainer
