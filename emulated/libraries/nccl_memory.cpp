#include "emulated/libraries/nccl_memory.h"

#include <algorithm>
#include <cstdlib>

#include "emulated/core/addresses.h"

namespace vramscope::emulated::nccl {
namespace {

constexpr int kMostChannels = 64;
// NCCL allocates memory with cuMemCreate, in multiples of this size.
constexpr uint64_t kGranule = uint64_t{2} << 20;

uint64_t Pieces(uint64_t bytes) { return RoundUp(bytes, kGranule); }

// Returns the size of three arrays for each channel (its peers twice, and the ring's ranks) and of
// two arrays for the communicator. For the 64 channels of a single rank these are 388 MiB, as
// measured on an H200 (NCCL 2.28.9).
uint64_t ChannelsBytes(int channels) { return (uint64_t{3} * channels + 2) * kGranule; }

// The receiver has the buffers of all three protocols. The sender has only counters.
uint64_t ConnectionBytes(const MemorySettings& settings) {
  constexpr uint64_t kLl = uint64_t{8} * 512 * 8 * 16, kLl128 = uint64_t{120} * 640 * 8 * 8;
  constexpr uint64_t kCounters = 4096;
  return Pieces(kLl + kLl128 + settings.buffer_bytes + kCounters) + Pieces(kCounters);
}

int PowerOfTwo(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

uint64_t Number(const char* first, const char* second, uint64_t most, uint64_t otherwise) {
  for (const char* name : {first, second}) {
    const char* text = name == nullptr ? nullptr : std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*end == '\0' && value > 0 && value <= most) return value;
  }
  return otherwise;
}

}  // namespace

MemorySettings MemorySettingsFromEnvironment() {
  MemorySettings settings;
  settings.buffer_bytes =
      Number("NCCL_BUFFSIZE", nullptr, uint64_t{1} << 30, settings.buffer_bytes);
  settings.max_channels =
      static_cast<int>(Number("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", kMostChannels, kMostChannels));
  settings.min_channels =
      static_cast<int>(Number("NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS", kMostChannels, 1));
  return settings;
}

CommunicatorMemory MemoryOfCommunicator(int ranks, Peers peers, const MemorySettings& settings) {
  if (ranks < 2) return {ChannelsBytes(kMostChannels), ChannelsBytes(kMostChannels)};
  const auto limited = [&](int channels) {
    return std::max(std::min(channels, settings.max_channels), settings.min_channels);
  };
  // NCCL reports "24 coll channels, 32 p2p channels" on an HGX board with 8 GPUs, and 2 or 4
  // channels over PCIe.
  const bool nvlink = peers == Peers::kNvlink;
  const int fewest = limited(nvlink ? 16 : 2), most = limited(nvlink ? 24 : 4);
  // For transfers through the host, the buffers are in host memory.
  const uint64_t connection = peers == Peers::kNone ? 0 : ConnectionBytes(settings);
  // A ring has one neighbour on each side. A tree within a computer is a chain: both neighbours
  // send and receive.
  const uint64_t tree = connection * (ranks == 2 ? 1 : 2);
  return {ChannelsBytes(PowerOfTwo(fewest)) + fewest * connection,
          ChannelsBytes(PowerOfTwo(most)) + most * (connection + tree)};
}

}  // namespace vramscope::emulated::nccl
