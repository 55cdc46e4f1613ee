#include "profiler/run/compute_capability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vramscope::run {
namespace {

constexpr std::array kTable = {
    ComputeCapability{50, "Maxwell", 2048, 128},
    ComputeCapability{52, "Maxwell", 2048, 128},
    ComputeCapability{53, "Maxwell", 2048, 128},
    ComputeCapability{60, "Pascal", 2048, 64},
    ComputeCapability{61, "Pascal", 2048, 128},
    ComputeCapability{62, "Pascal", 2048, 128},
    ComputeCapability{70, "Volta", 2048, 64},
    ComputeCapability{72, "Volta", 2048, 64},
    ComputeCapability{75, "Turing", 1024, 64},
    ComputeCapability{80, "Ampere", 2048, 64},
    ComputeCapability{86, "Ampere", 1536, 128},
    ComputeCapability{87, "Ampere", 1536, 128},
    ComputeCapability{89, "Ada Lovelace", 1536, 128},
    ComputeCapability{90, "Hopper", 2048, 128},
    ComputeCapability{100, "Blackwell", 2048, 128},
    ComputeCapability{103, "Blackwell", 2048, 128},
    ComputeCapability{110, "Blackwell", 1536, 128},
    ComputeCapability{120, "Blackwell", 1536, 128},
    ComputeCapability{121, "Blackwell", 1536, 128},
};

constexpr std::array<uint32_t, 6> kLibTorch = {75, 80, 86, 90, 100, 120};

}  // namespace

std::span<const ComputeCapability> ComputeCapabilities() { return kTable; }

const ComputeCapability* FindComputeCapability(uint32_t number) {
  const auto found = std::ranges::find(kTable, number, &ComputeCapability::number);
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view ArchitectureName(uint32_t number) {
  const ComputeCapability* chip = FindComputeCapability(number);
  return chip == nullptr ? std::string_view() : chip->architecture;
}

std::string ComputeCapabilityText(uint32_t number) {
  return fmt::format("{}.{}", number / 10, number % 10);
}

uint32_t ParseComputeCapability(std::string_view text) {
  for (const ComputeCapability& chip : kTable) {
    if (ComputeCapabilityText(chip.number) == text) return chip.number;
  }
  return 0;
}

uint64_t BlasWorkspaceBytes(uint32_t number) { return number == 90 ? uint64_t{32} << 20 : 8519680; }

std::span<const uint32_t> LibTorchArchitectures() { return kLibTorch; }

bool RunsOnLibTorch(uint32_t number) {
  return std::ranges::any_of(kLibTorch,
                             [&](uint32_t a) { return a / 10 == number / 10 && a <= number; });
}

}  // namespace vramscope::run
