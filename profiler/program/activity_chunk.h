// What a watched process tells of its activities while it runs: chunks that are appended to a file,
// each with a checksum, so that a process that is killed loses what it had not written and nothing
// else. Written by the library that is loaded into the process (cupti/), hence free of everything
// but the C++ library; read by activity_file.h.
//
//   out.append(EncodeActivities(first_name, names, activities));
//   ...
//   size_t used = 0;
//   while (DecodeChunk(bytes, used, chunk) == Decoded::kChunk) Use(chunk);
//
// A chunk is "VSAC", a type, the payload's length and CRC-32C (four bytes each, the lowest first),
// and the payload, in varints: names with the number of the first, then rows, each against the one
// before; or the facts; or names of streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/activities.h"

namespace vramscope::program {

// What is known of the listening itself.
struct ActivityFacts {
  struct Problem {
    std::string what, without;  // what could not be had, what is not shown without it
    friend bool operator==(const Problem&, const Problem&) = default;
  };
  bool running = false;
  bool virtual_clock = false;
  std::string library;
  uint32_t version = 0;
  uint64_t dropped = 0;   // records that there was no room for
  uint64_t left_out = 0;  // that made no sense
  bool full = false;      // the file has reached its limit: nothing more is written
  std::vector<Problem> problems;
  friend bool operator==(const ActivityFacts&, const ActivityFacts&) = default;
};

// One stream by its two names: activities have CUPTI's number, the allocator's history the handle.
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

// At most kMostRowsOfChunk activities and 1 MiB of names at once, so that a chunk stays below its
// limit.
inline constexpr size_t kMostRowsOfChunk = size_t{1} << 18;
std::string EncodeActivities(uint32_t first_name, std::span<const std::string> names,
                             std::span<const trace::Activity> activities);
std::string EncodeFacts(const ActivityFacts& facts);
std::string EncodeStreams(std::span<const StreamName> streams);

enum class Decoded { kChunk, kIncomplete, kDamaged };
// The chunk at the beginning of `bytes`; `used`: its length. kIncomplete: more may come.
Decoded DecodeChunk(std::string_view bytes, size_t& used, ActivityChunk& chunk);

}  // namespace vramscope::program
