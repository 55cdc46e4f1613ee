#include "emulated/core/card.h"

#include <charconv>
#include <cmath>

namespace vramscope::emulated {
namespace {

constexpr uint64_t kMostMemory = uint64_t{1} << 42;  // 4 TiB per GPU
constexpr int kMostCards = 120;                      // LibTorch supports at most 128

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

Architecture ArchitectureOf(const Card& card) {
  constexpr int kKiB = 1024;
  switch (card.compute_capability) {
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
      return card.compute_capability < 70 ? Architecture{64 * kKiB, 48 * kKiB, 32}
                                          : Architecture{228 * kKiB, 227 * kKiB, 32};
  }
}

std::optional<Card> ParseGpu(std::string_view line, std::string* problem) {
  Card card;
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
      card.name = text.substr(0, 255);
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
      card.memory_bytes = static_cast<uint64_t>(value);
    } else if (key == "context_bytes") {
      card.context_bytes = static_cast<uint64_t>(value);
    } else if (key == "sm_count") {
      integer(&card.sm_count);
    } else if (key == "max_threads_per_sm") {
      integer(&card.max_threads_per_sm);
    } else if (key == "compute_capability") {
      integer(&card.compute_capability);
    } else if (key == "l2_bytes") {
      card.l2_bytes = static_cast<uint64_t>(value);
    } else if (key == "bandwidth_bytes_per_s") {
      card.bandwidth_bytes_per_s = value;
    } else if (key == "fp32_flops") {
      card.fp32_flops = value;
    } else if (key == "tf32_flops") {
      card.tf32_flops = value;
    } else if (key == "bf16_flops") {
      card.bf16_flops = value;
    } else if (key == "boost_mhz") {
      integer(&card.boost_mhz);
    } else if (key == "bus_bits") {
      integer(&card.bus_bits);
    } else if (key == "integrated") {
      card.integrated = value != 0;
    } else if (key == "ecc") {
      card.ecc = value != 0;
    } else if (key == "peers") {
      card.peers = value < 1 ? Peers::kNone : value < 2 ? Peers::kPcie : Peers::kNvlink;
    } else if (uint64_t* const bytes = key == "bare_context_bytes"       ? &bare
                                       : key == "kernels_context_bytes"  ? &card.growth.kernels
                                       : key == "cublas_context_bytes"   ? &card.growth.cublas
                                       : key == "cudnn_context_bytes"    ? &card.growth.cudnn
                                       : key == "cusolver_context_bytes" ? &card.growth.cusolver
                                       : key == "cufft_context_bytes"    ? &card.growth.cufft
                                       : key == "nccl_context_bytes"     ? &card.growth.nccl
                                       : key == "idle_bytes"             ? &card.idle_bytes
                                                                         : nullptr) {
      *bytes = static_cast<uint64_t>(value);
    }  // ignores keys of later versions
  }
  if (bare > 0) {
    card.context_bytes = bare;
  } else {
    card.growth = {};
  }
  const auto needs = [&](bool there, const char* what) {
    if (!there && problem->empty()) {
      *problem = std::string("it needs a valid ") + what;
    }
  };
  problem->clear();
  needs(!card.name.empty(), "name");
  needs(card.memory_bytes > 0 && card.memory_bytes <= kMostMemory, "memory_bytes up to 4 TiB");
  needs(card.context_bytes < card.memory_bytes && card.idle_bytes < card.memory_bytes &&
            card.context_bytes + card.idle_bytes < card.memory_bytes,
        "context_bytes below memory_bytes");
  needs(card.sm_count > 0, "sm_count");
  needs(card.max_threads_per_sm >= 512, "max_threads_per_sm");
  needs(card.compute_capability >= 35 && card.compute_capability <= 999, "compute_capability");
  if (!problem->empty()) {
    return std::nullopt;
  }
  // Defaults for rates that the device table lacks. They affect only times.
  if (card.bandwidth_bytes_per_s <= 0) {
    card.bandwidth_bytes_per_s = 1e12;
  }
  if (card.fp32_flops <= 0) {
    card.fp32_flops = 2e13;
  }
  if (card.tf32_flops <= 0) {
    card.tf32_flops = card.fp32_flops;
  }
  if (card.bf16_flops <= 0) {
    card.bf16_flops = 2 * card.tf32_flops;
  }
  return card;
}

std::vector<Card> ParseCards(std::string_view lines, int devices, std::string* problem) {
  std::vector<Card> cards;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    if (static_cast<int>(cards.size()) == kMostCards) {
      *problem = "more than 120 GPUs";
      return {};
    }
    const std::optional<Card> card = ParseGpu(line, problem);
    if (!card) {
      *problem = "line " + std::to_string(cards.size() + 1) + ": " + *problem;
      return {};
    }
    cards.push_back(*card);
  }
  if (cards.empty()) {
    *problem = "it describes no GPU";
    return {};
  }
  if (devices > kMostCards) {
    *problem = "more than 120 GPUs";
    return {};
  }
  if (devices > 0) {
    const Card last = cards.back();
    cards.resize(devices, last);
  }
  return cards;
}

}  // namespace vramscope::emulated
