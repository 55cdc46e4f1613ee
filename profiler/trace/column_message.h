// Codes rows of several kinds as columns of a protobuf message. Used for event batches and activity
// batches (proto/FORMAT.md, "Event batches"). For speed, does not use generated code: a message has
// up to 65,536 rows. Internal to this folder.
//
//   ColumnWriter writer(kShape, rows);                 ColumnReader in;
//   for (row) writer.Plan(kind, used);                 RETURN_IF_ERROR(in.Open(payload, kShape));
//   for (row) writer.Put(kind, values);                in.Number(f, v); in.Byte(f);
//   std::string payload = writer.Message(numbers);
#pragma once

#include <absl/status/status.h>

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/trace/varint.h"

namespace vramscope::trace {

// Field numbers that all these messages have. The other fields up to ColumnShape::last_number
// contain one number each. Column f has the field number kTagFirstColumn + f.
inline constexpr uint32_t kTagCount = 2;
inline constexpr uint32_t kTagLayouts = 3;
inline constexpr uint32_t kTagKind = 4;
inline constexpr uint32_t kTagFirstColumn = 16;
inline constexpr int kMostColumns = 18;

struct ColumnShape {
  std::string_view what;  // "event batch"
  int columns = 0;
  uint32_t byte_columns = 0;  // bit f: one byte per value; other columns are varints
  uint32_t most_rows = 0;     // the maximum that a reader accepts in a message
  uint32_t last_number = 0;
};

// Every row has a value in column 0. In other columns, only rows whose kind
// uses the column have a value.
class ColumnWriter {
 public:
  explicit ColumnWriter(const ColumnShape& shape, size_t rows) : shape_(shape) {
    kinds_.reserve(rows);
    column_[0].reserve(rows * 2);
  }
  // First pass, called for every row. `used`: the set of columns in which the row's value is not 0.
  void Plan(uint8_t kind, uint32_t used) {
    ++counts_[kind];
    carried_[kind] |= used | 1;
  }
  // Second pass, called for every row in order. `values`: one value per column.
  void Put(uint8_t kind, std::span<const uint64_t> values) {
    kinds_.push_back(static_cast<char>(kind));
    for (uint32_t left = carried_[kind]; left != 0; left &= left - 1) {
      const int f = std::countr_zero(left);
      if (shape_.byte_columns >> f & 1)
        column_[f].push_back(static_cast<char>(values[f]));
      else
        PutVarint(column_[f], values[f]);
    }
  }
  // `numbers`: pairs of field number and value.
  std::string Message(std::span<const std::pair<uint32_t, uint64_t>> numbers) const;

 private:
  const ColumnShape& shape_;
  std::array<uint32_t, 256> counts_{}, carried_{};
  std::string kinds_;
  std::array<std::string, kMostColumns> column_;
};

class ColumnReader {
 public:
  // Checks the whole payload: counts, layouts and column lengths. `payload` and `shape` must
  // outlive the reader. kDataLoss: not a message of this shape.
  absl::Status Open(std::string_view payload, const ColumnShape& shape);
  absl::Status Bad(std::string_view what) const;  // kDataLoss, naming the message

  uint32_t count() const { return count_; }
  uint64_t number(uint32_t field) const { return numbers_[field]; }  // 0 if the field is missing
  uint8_t KindOf(uint32_t row) const { return kinds_[row]; }
  uint32_t CountOf(uint8_t kind) const { return counts_[kind]; }
  uint32_t CarriedBy(uint8_t kind) const { return carried_[kind]; }
  // Reads the next value of a column, which the row's kind must use. Returns false if the value is
  // cut off.
  bool Number(int column, uint64_t& value) {
    return GetVarint(column_[column].at, column_[column].end, value);
  }
  uint8_t Byte(int column) { return *column_[column].at++; }  // Open has checked the length
  bool AllRead() const;  // whether all columns are at their end

 private:
  struct Column {
    const unsigned char* at = nullptr;
    const unsigned char* end = nullptr;
  };
  absl::Status Layout(std::string_view message);

  const ColumnShape* shape_ = nullptr;
  uint32_t count_ = 0;
  std::array<uint64_t, kTagFirstColumn> numbers_{};
  std::array<uint32_t, 256> counts_{};
  std::array<uint32_t, 256> carried_{};
  const unsigned char* kinds_ = nullptr;
  std::array<Column, kMostColumns> column_{};
};

}  // namespace vramscope::trace
