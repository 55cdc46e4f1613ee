// What TraceAssembler and ReadTraceFile share: the order of frames, and batches that were decoded
// elsewhere. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <span>
#include <string>

#include "profiler/trace/batch_codec.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/part_filter.h"
#include "profiler/trace/reader.h"

namespace vramscope::trace {

// Room for a batch while it is taken apart, reused from batch to batch.
inline constexpr size_t kDecodeChunk = 1024;

struct TraceAssembler::Impl {
  TraceBuilder builder;
  bool has_header = false;
  uint32_t version = 0;  // of the format
  std::optional<Footer> footer;
  std::vector<Event> chunk = std::vector<Event>(kDecodeChunk);
  uint64_t events = 0;                     // of the file, that were taken
  uint64_t activities = 0;                 // that the builder took
  std::vector<Activity> activities_chunk;  // reused likewise

  std::optional<PartFilter> part;  // of it alone is read

  absl::Status Add(const Frame& frame);
  absl::Status AddBatch(std::string_view payload);
  // Events of a batch, changed to what they are in the present version: before the fourth, kernels,
  // copies and driver allocations were events.
  absl::Status AddEvents(std::span<Event> events);
  absl::Status AddActivities(std::span<const Activity> activities);
  // That everything arrived which the footer counts; "" or what is missing. `where`: "arrived".
  std::string Missing(std::string_view where) const;
  // `start` must be where the file is.
  absl::Status CheckStart(const BatchStart& start) const;
};

}  // namespace vramscope::trace
