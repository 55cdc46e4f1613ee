// Codes events as the columns of proto::EventBatch. proto/FORMAT.md, "Event batches", describes the
// coding of each column. Internal to this folder.
//
//   BatchDecoder decoder;
//   RETURN_IF_ERROR(decoder.Open(payload));
//   while (size_t n = decoder.Read(events)) use(events.first(n));
//   RETURN_IF_ERROR(decoder.status());
#pragma once

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profiler/trace/column_message.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

inline constexpr uint32_t kBatchEvents = 1u << 16;     // maximum in one batch of the writer
inline constexpr uint32_t kMaxBatchEvents = 1u << 20;  // the maximum that a reader accepts

// Where a batch begins in the stream.
struct BatchStart {
  uint64_t event = 0;
  uint64_t allocation = 0;  // id that the next Alloc gets
  uint64_t segment = 0;
};

// `events` must hold between 1 and kMaxBatchEvents events. Fields that the event's kind does not
// use (event_fields.h) are not stored.
std::string EncodeBatch(std::span<const Event> events, const BatchStart& start);

// Predicts fields from earlier events of the batch. Only the difference is coded.
class Predictor {
 public:
  Predictor() = default;
  Predictor(const BatchStart& start, uint32_t address_shift, uint32_t rounding_unit)
      : next_allocation_(start.allocation),
        next_segment_(start.segment),
        shift_(address_shift),
        unit_(rounding_unit == 0 ? 1 : rounding_unit) {}

  uint64_t Id(EventKind kind) const {
    switch (kind) {
      case EventKind::kAlloc:
        return next_allocation_;
      case EventKind::kSegmentAlloc:
        return next_segment_;
      case EventKind::kFreeRequested:
        return last_freed_;
      case EventKind::kFreeCompleted:
        return last_freed_;
      default:
        return last_id_[static_cast<uint8_t>(kind)];
    }
  }
  // The predicted address, in units of 1 << address_shift.
  uint64_t Address(EventKind kind) const { return last_address_[static_cast<uint8_t>(kind)]; }
  uint64_t Rounded(EventKind kind, uint64_t bytes) const {
    if (kind != EventKind::kAlloc) return 0;
    return (bytes + (unit_ - 1)) / unit_ * unit_;
  }
  void See(const Event& event) {
    switch (event.kind) {
      case EventKind::kAlloc:
        next_allocation_ = event.id + 1;
        last_address_[static_cast<uint8_t>(event.kind)] = event.address >> shift_;
        break;
      case EventKind::kSegmentAlloc:
        next_segment_ = event.id + 1;
        last_address_[static_cast<uint8_t>(event.kind)] = event.address >> shift_;
        break;
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
        last_freed_ = event.id;
        break;
      default:
        last_id_[static_cast<uint8_t>(event.kind)] = event.id;
        last_address_[static_cast<uint8_t>(event.kind)] = event.address >> shift_;
    }
  }

 private:
  uint64_t next_allocation_ = 0, next_segment_ = 0, last_freed_ = 0;
  uint32_t shift_ = 0, unit_ = 1;
  std::array<uint64_t, 256> last_id_{};
  std::array<uint64_t, 256> last_address_{};
};

class BatchDecoder {
 public:
  // Checks the whole payload: counts, layouts and column lengths. `payload` must outlive the
  // decoder. kDataLoss: not a batch.
  absl::Status Open(std::string_view payload);
  // Fills `out` from its start and returns the number of events; 0 at the end or after an error.
  size_t Read(std::span<Event> out);
  const absl::Status& status() const { return status_; }

  const BatchStart& start() const { return start_; }
  uint32_t count() const { return in_.count(); }
  uint32_t CountOf(EventKind kind) const { return in_.CountOf(static_cast<uint8_t>(kind)); }

 private:
  size_t Fail(std::string_view what);

  ColumnReader in_;
  BatchStart start_;
  uint32_t next_ = 0, shift_ = 0;
  int64_t time_ns_ = 0;
  Predictor predictor_;
  absl::Status status_;
};

}  // namespace vramscope::trace
