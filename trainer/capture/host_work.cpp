#include "trainer/capture/host_work.h"

#include <atomic>

namespace vramscope::trainer {
namespace {
std::atomic<PassHostTime> g_pass{nullptr};
}  // namespace

void SetHostTime(PassHostTime pass) { g_pass.store(pass, std::memory_order_relaxed); }

void HostWorks(int64_t ns) {
  if (const PassHostTime pass = g_pass.load(std::memory_order_relaxed)) pass(ns);
}

}  // namespace vramscope::trainer
