// Explains in words why the model's choice differs from the recording's. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::replay {

std::string Bytes(uint64_t bytes);                    // "1,048,576 B"
std::string Text(const allocator::Segment& segment);  // "20,971,520 B, large pool, stream 0"

struct Choice {
  uint64_t bytes = 0;  // requested
  uint32_t stream = 0, mempool = 0;
  uint64_t recorded = 0;              // the block's address in the recording
  bool recorded_asks_driver = false;  // whether the recorded block is in a new segment
  std::optional<uint64_t> model;      // address in the model; nullopt: the model called the driver
};
// `model`: the state of the model after its choice.
std::string CauseOf(const allocator::CachingAllocator& model, const run::AllocConf& conf,
                    const Choice& choice);
// Explains why the model does not release [address, address + bytes) to the device.
std::string CauseOfRetained(const allocator::CachingAllocator& model, uint64_t address,
                            uint64_t bytes);

}  // namespace vramscope::replay
