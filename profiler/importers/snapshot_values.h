// A value of a snapshot, as used during the reading. Every kind takes 16 bytes. Values that were
// converted to columns (entries, frames, stacks ...) contain a row number. Internal.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "profiler/importers/snapshot_keys.h"

namespace vramscope::importers {

struct Value {
  enum class Kind : uint8_t {
    kOpaque,    // not needed for a snapshot; also None
    kBool,      // payload: 0, 1
    kInt,       // payload: int64_t if `negative`, else uint64_t
    kFloat,     // payload: its bits
    kString,    // row of the builder's strings; `key` is set
    kOpenDict,  // still empty
    kOpenList,
    kDict,     // row of the builder's dicts; its kind is not known (yet)
    kFrame,    // row of the stacks' frames
    kStack,    // StackId
    kPair,     // two small integers: first << 32 | second
    kStrings,  // row of the builder's lists of strings
    // Consecutive rows, as `first | count << 32`. Adjacent rows are merged into one value.
    kEntries,
    kBlocks,
    kSegments,
    kAnnotations,
    // Lists of these rows.
    kTrace,
    kBlockList,
    kSegmentList,
    kAnnotationList,
    kTraces,  // row of the builder's lists of traces
    // Row of the builder's histories (old files); for a list of histories, row of the first.
    kHistory,
    kSettings,  // allocator_settings; stored in the builder
    kMarks,     // vramscope's marks in files that it wrote; stored in the builder
    kSnapshot,  // the outermost dict
  };

  Kind kind = Kind::kOpaque;
  Key key = Key::kNone;
  bool negative = false;
  uint32_t memo = 0;  // for the pickle reader: memo index + 1; 0: not memoized
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

  uint32_t row() const {
    return static_cast<uint32_t>(payload);
  }  // the first row, if there are several
  uint32_t count() const { return static_cast<uint32_t>(payload >> 32); }
  bool is_rows() const { return kind >= Kind::kEntries && kind <= Kind::kAnnotations; }
};
static_assert(sizeof(Value) == 16);

// Returns the name for messages, such as "a list of frames".
std::string_view Name(Value::Kind kind);

}  // namespace vramscope::importers
