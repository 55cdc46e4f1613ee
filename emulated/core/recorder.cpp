#include "emulated/core/recorder.h"

#include <atomic>
#include <iterator>

namespace vramscope::emulated {
namespace {

std::atomic<Recorder*> the_recorder{nullptr};
std::atomic<CountRequests> operands_wanted{nullptr};
std::atomic<CallSite> call_sites{nullptr};

// In the order of Call.
constexpr const char* kCalls[] = {
    "cudaLaunchKernel",      "cuLaunchKernel",      "cudaGraphLaunch", "cudaMemcpyAsync",
    "cudaMemsetAsync",       "cudaMalloc",          "cudaFree",        "cudaMallocManaged",
    "cudaHostAlloc",         "cudaFreeHost",        "cudaMallocAsync", "cudaFreeAsync",
    "cuMemAlloc_v2",         "cuMemFree_v2",        "cuMemSetAccess",  "cuMemUnmap",
    "cuMemAllocManaged",     "cuMemHostAlloc",      "cuMemFreeHost",   "cudaStreamSynchronize",
    "cudaDeviceSynchronize", "cudaEventSynchronize"};
static_assert(std::size(kCalls) == static_cast<size_t>(Call::kEventSynchronize) + 1);

}  // namespace

void SetRecorder(Recorder* recorder) { the_recorder.store(recorder, std::memory_order_release); }
void SetOperandsEnabled(CountRequests requests) {
  operands_wanted.store(requests, std::memory_order_release);
}
CountRequests OperandsEnabled() { return operands_wanted.load(std::memory_order_acquire); }

void SetCallSites(CallSite site) { call_sites.store(site, std::memory_order_release); }
CallSite CallSites() { return call_sites.load(std::memory_order_acquire); }

const char* NameOf(Call call) { return kCalls[static_cast<size_t>(call)]; }

Recorder* TheRecorder() { return the_recorder.load(std::memory_order_acquire); }

}  // namespace vramscope::emulated
