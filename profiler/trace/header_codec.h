// Header, string and footer payloads to and from protobuf bytes. Internal to this folder; free of
// generated code, so that only header_codec.cpp sees it.
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
  std::string warning;  // "" unless something of it could not be used
};
// kUnimplemented: a newer version. kDataLoss: not a header.
absl::StatusOr<Header> DecodeHeader(std::string_view payload);

// proto::Keyframe; keyframe.h says what is in it.
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
// Of a frame of strings that has one; kDataLoss: it has none.
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
    int64_t last_end_ns = 0;  // the latest of the batch
  };
  uint64_t events = 0;
  uint64_t strings = 0;
  uint64_t allocations = 0;
  uint64_t retags = 0;
  uint64_t slices = 0;
  uint64_t activities = 0;
  std::vector<Batch> batches;
  std::vector<ActivityBatch> activity_batches;
  // Steps and phases that lie in no other of their kind, by begin; where there are many of a kind,
  // so many neighbours in one.
  struct Slice {
    SliceKind kind = SliceKind::kStep;
    uint32_t number = 0;  // of several steps the first; of several phases which lasts longest
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    uint32_t count = 1;
  };
  std::vector<Slice> outline;
  struct KeyframeAt {
    uint64_t offset = 0;
    uint64_t event = 0;  // that comes next
    int64_t last_time_ns = 0;
  };
  std::vector<uint64_t> tables;  // offsets of strings and stacks; none where no keyframes are
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
