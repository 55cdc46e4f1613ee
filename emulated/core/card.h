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

// By how much what a process holds of the card beside what it asks for grows, in bytes (context.h).
struct ContextGrowth {
  uint64_t kernels = 0;   // with the first kernel
  uint64_t cublas = 0;    // with each handle
  uint64_t cudnn = 0;     // likewise
  uint64_t cusolver = 0;  // likewise
  uint64_t cufft = 0;     // with the first plan
  uint64_t nccl = 0;      // with the first communicator, beside its buffers
};

// How cards of one kind reach each other's memory: by way of the host alone, over PCIe, over
// NVLink.
enum class Peers { kNone = 0, kPcie = 1, kNvlink = 2 };

struct Card {
  std::string name;
  uint64_t memory_bytes = 0;  // as cudaDeviceProp::totalGlobalMem
  // What the driver keeps of it for a process: from the start, where `growth` is said; all that
  // there is of it, else.
  uint64_t context_bytes = 0;
  ContextGrowth growth = {};
  uint64_t idle_bytes = 0;  // in use on a card that nobody uses
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
  Peers peers = Peers::kPcie;
  bool integrated = false;  // its memory is the system's
  // Whether its memory has error correction switched on; not said: where the chip has HBM.
  std::optional<bool> ecc;

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
