// Converts header, string and footer payloads to and from protobuf bytes. Internal to this folder.
// Only header_codec.cpp includes generated code.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

inline constexpr uint32_t kFormatVersion = 6;

std::string EncodeHeader(const TraceInfo& info);
struct Header {
  uint32_t version = 0;
  TraceInfo info;
  std::string warning;  // "", or which part of the header could not be used
};
// kUnimplemented: a newer version. kDataLoss: not a header.
absl::StatusOr<Header> DecodeHeader(std::string_view payload);

// proto::Keyframe; keyframe.h describes it.
struct KeyframeMessage {
  uint64_t event = 0, next_block = 0, next_segment = 0;
  std::string blocks, segments, batch;
};
std::string EncodeStrings(uint32_t first_id, std::span<const std::string> values,
                          KeyframeMessage* keyframe = nullptr);
struct StringIncrement {
  uint32_t first_id = 0;
  std::vector<std::string> values;
};
absl::StatusOr<StringIncrement> DecodeStrings(std::string_view payload);
// Returns the keyframe in a frame of strings; kDataLoss: the frame has none.
absl::StatusOr<KeyframeMessage> DecodeKeyframeMessage(std::string_view payload);

std::string EncodeStacks(const StackIncrement& increment);
absl::StatusOr<StackIncrement> DecodeStacks(std::string_view payload);

struct Footer {
  struct Batch {
    uint64_t offset = 0;
    uint64_t first_event = 0;
    uint32_t count = 0;
    int64_t first_time_ns = 0;
    int64_t last_time_ns = 0;
    uint64_t peak_allocated = 0;
    uint64_t peak_reserved = 0;
  };
  struct ActivityBatch {
    uint64_t offset = 0;
    uint32_t count = 0;
    int64_t first_begin_ns = 0;
    int64_t last_end_ns = 0;  // the latest end in the batch
  };
  uint64_t events = 0;
  uint64_t strings = 0;
  uint64_t allocations = 0;
  uint64_t retags = 0;
  uint64_t slices = 0;
  uint64_t activities = 0;
  std::vector<Batch> batches;
  std::vector<ActivityBatch> activity_batches;
  // A step or phase that is not nested in another of its kind. If a file has very many, each entry
  // combines `count` neighbours.
  struct Slice {
    SliceKind kind = SliceKind::kStep;
    // The number of the step (the first, if combined), or the Phase (the longest, if combined).
    uint32_t number = 0;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    uint32_t count = 1;
  };
  std::vector<Slice> outline;  // sorted by begin
  struct KeyframeAt {
    uint64_t offset = 0;
    uint64_t event = 0;  // the event that follows the keyframe
    int64_t last_time_ns = 0;
  };
  std::vector<uint64_t> tables;  // offsets of string and stack frames; empty without keyframes
  std::vector<KeyframeAt> keyframes;
  bool complete = false;
  std::string end_message;
};
std::string EncodeFooter(const Footer& footer);
absl::StatusOr<Footer> DecodeFooter(std::string_view payload);

std::string EncodeEnd(uint64_t footer_offset);
inline constexpr size_t kEndPayloadBytes = 9;
absl::StatusOr<uint64_t> DecodeEnd(std::string_view payload);

}  // namespace vramscope::trace
