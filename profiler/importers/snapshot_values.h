// A value while a snapshot is being read: 16 bytes, whatever it stands for. What has become
// columns (entries, frames, stacks ...) is a row number of them. Internal.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "profiler/importers/snapshot_keys.h"

namespace vramscope::importers {

struct Value {
  enum class Kind : uint8_t {
    kOpaque,    // something that no snapshot needs; also None
    kBool,      // payload: 0, 1
    kInt,       // payload: two's complement; negative: below 0 (else up to 2^64 - 1)
    kFloat,     // payload: bits
    kString,    // row of the builder's strings; key
    kOpenDict,  // empty so far
    kOpenList,
    kDict,     // row of the builder's dicts: its kind is not known (yet)
    kFrame,    // row of stacks
    kStack,    // StackId
    kPair,     // of two small integers: first << 32 | second
    kStrings,  // row of the builder's lists of strings
    // Consecutive rows: first | count << 32. What was completed side by side is one value.
    kEntries,
    kBlocks,
    kSegments,
    kAnnotations,
    // Lists of those.
    kTrace,
    kBlockList,
    kSegmentList,
    kAnnotationList,
    kTraces,    // row of the builder's lists of traces
    kHistory,   // of an old block, or the list of them: row
    kSettings,  // allocator_settings, noted in the builder
    kMarks,     // what vramscope says of a file that it wrote: noted in the builder
    kSnapshot,  // the whole
  };

  Kind kind = Kind::kOpaque;
  Key key = Key::kNone;
  bool negative = false;
  uint32_t memo = 0;  // of the pickle reader: where the object was memoised + 1; 0: nowhere
  uint64_t payload = 0;

  static Value Of(Kind kind, uint64_t payload = 0) {
    Value v;
    v.kind = kind;
    v.payload = payload;
    return v;
  }
  static Value Rows(Kind kind, uint32_t first, uint32_t count) {
    return Of(kind, first | uint64_t{count} << 32);
  }
  static Value Int(int64_t value) {
    Value v = Of(Kind::kInt, static_cast<uint64_t>(value));
    v.negative = value < 0;
    return v;
  }
  static Value Unsigned(uint64_t value) { return Of(Kind::kInt, value); }
  static Value Float(double value) { return Of(Kind::kFloat, std::bit_cast<uint64_t>(value)); }

  uint32_t row() const { return static_cast<uint32_t>(payload); }  // the first, of several
  uint32_t count() const { return static_cast<uint32_t>(payload >> 32); }
  bool is_rows() const { return kind >= Kind::kEntries && kind <= Kind::kAnnotations; }
};
static_assert(sizeof(Value) == 16);

// For messages: "a list of frames".
std::string_view Name(Value::Kind kind);

}  // namespace vramscope::importers
