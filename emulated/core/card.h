// A card that is not there. Its figures come from the project's device table, one line of
// VRAMSCOPE_EMULATED_CARD a card; what follows from the compute capability alone is in
// ArchitectureOf.
//
//   std::string problem;
//   std::optional<Card> card = ParseCard("name=NVIDIA L4;memory_bytes=23583457280;...", &problem);
//
// Values: no thread rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/core/api.h"

namespace vramscope::emulated {

struct Card {
  std::string name;
  uint64_t memory_bytes = 0;   // as cudaDeviceProp::totalGlobalMem
  uint64_t context_bytes = 0;  // what the driver keeps of it for a process
  int sm_count = 0;
  int max_threads_per_sm = 0;
  int compute_capability = 0;  // 89 for 8.9
  uint64_t l2_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  double fp32_flops = 0;  // dense rates, per second
  double tf32_flops = 0;
  double bf16_flops = 0;
  int boost_mhz = 0;
  int bus_bits = 0;

  int major() const { return compute_capability / 10; }
  int minor() const { return compute_capability % 10; }
};

// What all cards of a compute capability have in common: the table of the CUDA C++ programming
// guide.
struct Architecture {
  int shared_per_sm = 0;          // bytes
  int shared_per_block_most = 0;  // after opting in
  int blocks_per_sm = 0;
  int registers_per_sm = 65536;
};
VRAMSCOPE_EMULATED_API Architecture ArchitectureOf(const Card& card);

// Nothing, and why in *problem, when the line names no card.
std::optional<Card> ParseCard(std::string_view line, std::string* problem);
// One card a line; the last one again until there are `devices` of them (0: as many as there are
// lines).
std::vector<Card> ParseCards(std::string_view lines, int devices, std::string* problem);

}  // namespace vramscope::emulated
