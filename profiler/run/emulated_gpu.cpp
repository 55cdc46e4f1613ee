#include "profiler/run/emulated_gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/run/context_growth.h"
#include "profiler/run/device.h"

namespace vramscope::run {

std::string CudaName(std::string_view name) {
  name = name.substr(0, name.find(" ("));
  // Removes the memory size, which CUDA's names of GeForce GPUs do not have.
  if (const size_t space = name.rfind(' ');
      name.find("GeForce") != std::string_view::npos && space != std::string_view::npos) {
    const std::string_view last = name.substr(space + 1);
    if (last.size() > 2 && last.ends_with("GB") &&
        std::all_of(last.begin(), last.end() - 2, [](char c) { return c >= '0' && c <= '9'; }))
      name = name.substr(0, space);
  }
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ';' || c == '\n'; }, ' ');
  return text;
}

std::string EmulatedGpu(const DeviceProfile& d) {
  const uint64_t idle = GrowthOf(d.key).idle;
  const Device all = ReadDevice(d.key).value_or(Device{});
  // A name given by the user is not changed.
  const bool named = d.key.find("name=") != std::string::npos;
  return fmt::format(
      "name={};memory_bytes={};context_bytes={};sm_count={};max_threads_per_sm={};"
      "compute_capability={};l2_bytes={};bandwidth_bytes_per_s={:.0f};fp32_flops={:.0f};"
      "tf32_flops={:.0f};bf16_flops={:.0f};boost_mhz={};bus_bits={};peers={};integrated={:d};ecc={:"
      "d}{}",
      named ? d.name : CudaName(d.name), d.memory_bytes, d.context_bytes, d.sm_count,
      d.max_threads_per_sm, d.compute_capability, d.l2_bytes, d.bandwidth_bytes_per_s, d.fp32_flops,
      d.tf32_flops, d.bf16_flops, d.boost_mhz, d.bus_bits, static_cast<int>(all.peers),
      all.integrated, all.ecc, idle == 0 ? std::string() : fmt::format(";idle_bytes={}", idle));
}

std::string GrowingGpu(const DeviceProfile& d) {
  const ContextGrowth& g = GrowthOf(d.key);
  if (g.bare == 0) return EmulatedGpu(d);
  return EmulatedGpu(d) +
         fmt::format(
             ";bare_context_bytes={};kernels_context_bytes={};cublas_context_bytes={};"
             "cudnn_context_bytes={};cusolver_context_bytes={};cufft_context_bytes={};"
             "nccl_context_bytes={}",
             g.bare, g.kernels, g.cublas, g.cudnn, g.cusolver, g.cufft, g.nccl);
}

}  // namespace vramscope::run
