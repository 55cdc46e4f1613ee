// The file of activities that a watched process writes while it runs. It is a sequence of chunks
// with checksums, so a killed process loses only what was not yet written. The library that is
// loaded into the process (cupti/) writes it, so this header depends only on the C++ standard
// library. activity_file.h reads the file.
//
//   out.append(EncodeActivities(first_name, names, activities));
//   ...
//   size_t used = 0;
//   while (DecodeChunk(bytes, used, chunk) == Decoded::kChunk) Use(chunk);
//
// A chunk consists of "VSAC", a type, the payload's length, a CRC-32C (four bytes each,
// little-endian), and the payload in varints. The checksum covers the type, the length and the
// payload. Chunks of older versions are read, too: their checksum covers only the payload, so a
// changed type is not noticed. There are three types of payload. The first has names (after the
// number of the first name) and rows (each as the difference from the previous row). The second has
// the facts, the third the names of streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/activities.h"

namespace vramscope::program {

// Facts about the recording of activities, such as problems.
struct ActivityFacts {
  struct Problem {
    std::string what, without;  // what failed; which data is therefore missing
    friend bool operator==(const Problem&, const Problem&) = default;
  };
  bool running = false;
  bool virtual_clock = false;
  std::string library;
  uint32_t version = 0;
  uint64_t dropped = 0;   // records for which there was no space
  uint64_t left_out = 0;  // invalid records of CUPTI, which are not in the file
  bool full = false;      // the file has reached its size limit; nothing more is written to it
  std::vector<Problem> problems;
  friend bool operator==(const ActivityFacts&, const ActivityFacts&) = default;
};

// The two names of a stream: activities use CUPTI's number, and the allocator's history uses the
// handle.
struct StreamName {
  uint8_t device = 0;
  uint64_t handle = 0;  // a cudaStream_t; 0: the default stream
  uint32_t id = 0;
  friend bool operator==(const StreamName&, const StreamName&) = default;
};

struct ActivityChunk {
  bool has_facts = false;
  ActivityFacts facts;
  uint32_t first_name = 0;
  std::vector<std::string> names;
  std::vector<trace::Activity> activities;
  std::vector<StreamName> streams;
};

inline constexpr size_t kMaxChunkBytes = size_t{32} << 20;
inline constexpr uint64_t kMaxActivityFileBytes = uint64_t{2} << 30;

// A call may encode at most kMostRowsOfChunk activities and 1 MiB of names. This keeps the chunk
// below kMaxChunkBytes.
inline constexpr size_t kMostRowsOfChunk = size_t{1} << 18;
std::string EncodeActivities(uint32_t first_name, std::span<const std::string> names,
                             std::span<const trace::Activity> activities);
std::string EncodeFacts(const ActivityFacts& facts);
std::string EncodeStreams(std::span<const StreamName> streams);

enum class Decoded { kChunk, kIncomplete, kDamaged };
// Decodes the chunk at the beginning of `bytes` and sets `used` to the chunk's length. kIncomplete:
// the chunk is cut off and more data may follow.
Decoded DecodeChunk(std::string_view bytes, size_t& used, ActivityChunk& chunk);

}  // namespace vramscope::program
