#include "emulated/core/gpu.h"

#include <charconv>
#include <cmath>

namespace vramscope::emulated {
namespace {

constexpr uint64_t kMostMemory = uint64_t{1} << 42;  // 4 TiB per GPU
constexpr int kMostGpus = 120;                       // LibTorch supports at most 128

bool ParseNumber(std::string_view text, double least, double most, double* value) {
  double parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(parsed) ||
      parsed < least || parsed > most) {
    return false;
  }
  *value = parsed;
  return true;
}

}  // namespace

Architecture ArchitectureOf(const Gpu& gpu) {
  constexpr int kKiB = 1024;
  switch (gpu.compute_capability) {
    case 52:
    case 61:
      return {96 * kKiB, 48 * kKiB, 32};
    case 50:
    case 53:
    case 60:
    case 62:
      return {64 * kKiB, 48 * kKiB, 32};
    case 70:
    case 72:
      return {96 * kKiB, 96 * kKiB, 32};
    case 75:
      return {64 * kKiB, 64 * kKiB, 16};
    case 80:
      return {164 * kKiB, 163 * kKiB, 32};
    case 86:
      return {100 * kKiB, 99 * kKiB, 16};
    case 87:
      return {164 * kKiB, 163 * kKiB, 16};
    case 89:
      return {100 * kKiB, 99 * kKiB, 24};
    case 90:
    case 100:
    case 103:
      return {228 * kKiB, 227 * kKiB, 32};
    case 110:
      return {228 * kKiB, 227 * kKiB, 24};
    case 120:
    case 121:
      return {100 * kKiB, 99 * kKiB, 24};
    default:
      return gpu.compute_capability < 70 ? Architecture{64 * kKiB, 48 * kKiB, 32}
                                         : Architecture{228 * kKiB, 227 * kKiB, 32};
  }
}

std::optional<Gpu> ParseGpu(std::string_view line, std::string* problem) {
  Gpu gpu;
  uint64_t bare = 0;
  while (!line.empty()) {
    const std::string_view pair = line.substr(0, line.find(';'));
    line.remove_prefix(std::min(pair.size() + 1, line.size()));
    if (pair.empty()) {
      continue;
    }
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      *problem = "no '=' in \"" + std::string(pair.substr(0, 80)) + "\"";
      return std::nullopt;
    }
    const std::string_view key = pair.substr(0, equals), text = pair.substr(equals + 1);
    if (key == "name") {
      gpu.name = text.substr(0, 255);
      continue;
    }
    double value = 0;
    if (!ParseNumber(text, 0, 1e18, &value)) {
      *problem = std::string(key.substr(0, 40)) + ": not a valid number: \"" +
                 std::string(text.substr(0, 80)) + "\"";
      return std::nullopt;
    }
    const auto integer = [&](int* to) { *to = static_cast<int>(std::min(value, 1e9)); };
    if (key == "memory_bytes") {
      gpu.memory_bytes = static_cast<uint64_t>(value);
    } else if (key == "context_bytes") {
      gpu.context_bytes = static_cast<uint64_t>(value);
    } else if (key == "sm_count") {
      integer(&gpu.sm_count);
    } else if (key == "max_threads_per_sm") {
      integer(&gpu.max_threads_per_sm);
    } else if (key == "compute_capability") {
      integer(&gpu.compute_capability);
    } else if (key == "l2_bytes") {
      gpu.l2_bytes = static_cast<uint64_t>(value);
    } else if (key == "bandwidth_bytes_per_s") {
      gpu.bandwidth_bytes_per_s = value;
    } else if (key == "fp32_flops") {
      gpu.fp32_flops = value;
    } else if (key == "tf32_flops") {
      gpu.tf32_flops = value;
    } else if (key == "bf16_flops") {
      gpu.bf16_flops = value;
    } else if (key == "boost_mhz") {
      integer(&gpu.boost_mhz);
    } else if (key == "bus_bits") {
      integer(&gpu.bus_bits);
    } else if (key == "integrated") {
      gpu.integrated = value != 0;
    } else if (key == "ecc") {
      gpu.ecc = value != 0;
    } else if (key == "peers") {
      gpu.peers = value < 1 ? Peers::kNone : value < 2 ? Peers::kPcie : Peers::kNvlink;
    } else if (uint64_t* const bytes = key == "bare_context_bytes"       ? &bare
                                       : key == "kernels_context_bytes"  ? &gpu.growth.kernels
                                       : key == "cublas_context_bytes"   ? &gpu.growth.cublas
                                       : key == "cudnn_context_bytes"    ? &gpu.growth.cudnn
                                       : key == "cusolver_context_bytes" ? &gpu.growth.cusolver
                                       : key == "cufft_context_bytes"    ? &gpu.growth.cufft
                                       : key == "nccl_context_bytes"     ? &gpu.growth.nccl
                                       : key == "idle_bytes"             ? &gpu.idle_bytes
                                                                         : nullptr) {
      *bytes = static_cast<uint64_t>(value);
    }  // ignores keys of later versions
  }
  if (bare > 0) {
    gpu.context_bytes = bare;
  } else {
    gpu.growth = {};
  }
  const auto needs = [&](bool there, const char* what) {
    if (!there && problem->empty()) {
      *problem = std::string("a GPU needs a valid ") + what;
    }
  };
  problem->clear();
  needs(!gpu.name.empty(), "name");
  needs(gpu.memory_bytes > 0 && gpu.memory_bytes <= kMostMemory, "memory_bytes up to 4 TiB");
  needs(gpu.context_bytes < gpu.memory_bytes && gpu.idle_bytes < gpu.memory_bytes &&
            gpu.context_bytes + gpu.idle_bytes < gpu.memory_bytes,
        "context_bytes below memory_bytes");
  needs(gpu.sm_count > 0, "sm_count");
  needs(gpu.max_threads_per_sm >= 512, "max_threads_per_sm");
  needs(gpu.compute_capability >= 35 && gpu.compute_capability <= 999, "compute_capability");
  if (!problem->empty()) {
    return std::nullopt;
  }
  // Defaults for rates that the device table lacks. They affect only times.
  if (gpu.bandwidth_bytes_per_s <= 0) {
    gpu.bandwidth_bytes_per_s = 1e12;
  }
  if (gpu.fp32_flops <= 0) {
    gpu.fp32_flops = 2e13;
  }
  if (gpu.tf32_flops <= 0) {
    gpu.tf32_flops = gpu.fp32_flops;
  }
  if (gpu.bf16_flops <= 0) {
    gpu.bf16_flops = 2 * gpu.tf32_flops;
  }
  return gpu;
}

std::vector<Gpu> ParseGpus(std::string_view lines, int devices, std::string* problem) {
  std::vector<Gpu> gpus;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    if (static_cast<int>(gpus.size()) == kMostGpus) {
      *problem = "more than 120 GPUs";
      return {};
    }
    const std::optional<Gpu> gpu = ParseGpu(line, problem);
    if (!gpu) {
      *problem = "line " + std::to_string(gpus.size() + 1) + ": " + *problem;
      return {};
    }
    gpus.push_back(*gpu);
  }
  if (gpus.empty()) {
    *problem = "the text describes no GPU";
    return {};
  }
  if (devices > kMostGpus) {
    *problem = "more than 120 GPUs";
    return {};
  }
  if (devices > 0) {
    const Gpu last = gpus.back();
    gpus.resize(devices, last);
  }
  return gpus;
}

}  // namespace vramscope::emulated
