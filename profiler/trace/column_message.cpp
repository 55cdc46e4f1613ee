#include "profiler/trace/column_message.h"

#include <fmt/format.h>

#include "profiler/base/i18n.h"

namespace vramscope::trace {
namespace {

constexpr uint32_t kWireVarint = 0;
constexpr uint32_t kWireBytes = 2;

void PutNumber(std::string& out, uint32_t field, uint64_t value) {
  PutVarint(out, field << 3 | kWireVarint);
  PutVarint(out, value);
}
void PutBytes(std::string& out, uint32_t field, std::string_view value) {
  PutVarint(out, field << 3 | kWireBytes);
  PutVarint(out, value.size());
  out.append(value);
}

// Steps through the fields of a protobuf message; skips groups and fixed-size fields.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : at_(reinterpret_cast<const unsigned char*>(message.data())), end_(at_ + message.size()) {}

  bool Next() {
    if (at_ == end_) return false;
    uint64_t tag;
    if (!GetVarint(at_, end_, tag) || tag >> 3 > 0x1FFFFFFF) return Bad();
    field = static_cast<uint32_t>(tag >> 3);
    wire = static_cast<uint32_t>(tag & 7);
    number = 0;
    bytes = {};
    switch (wire) {
      case kWireVarint:
        return GetVarint(at_, end_, number) || Bad();
      case kWireBytes: {
        uint64_t n;
        if (!GetVarint(at_, end_, n) || n > static_cast<uint64_t>(end_ - at_)) return Bad();
        bytes = {reinterpret_cast<const char*>(at_), static_cast<size_t>(n)};
        at_ += n;
        return true;
      }
      case 1:
      case 5: {
        const ptrdiff_t n = wire == 1 ? 8 : 4;
        if (end_ - at_ < n) return Bad();
        at_ += n;
        return true;
      }
      default:
        return Bad();
    }
  }
  bool ok() const { return ok_; }

  uint32_t field = 0, wire = 0;
  uint64_t number = 0;
  std::string_view bytes;

 private:
  bool Bad() {
    ok_ = false;
    return false;
  }
  const unsigned char* at_;
  const unsigned char* end_;
  bool ok_ = true;
};

}  // namespace

std::string ColumnWriter::Message(std::span<const std::pair<uint32_t, uint64_t>> numbers) const {
  std::string out;
  for (const auto& [field, value] : numbers) PutNumber(out, field, value);
  PutNumber(out, kTagCount, kinds_.size());
  for (uint32_t k = 0; k < 256; ++k) {
    if (counts_[k] == 0) continue;
    std::string layout;
    PutNumber(layout, 1, k);
    PutNumber(layout, 2, counts_[k]);
    PutNumber(layout, 3, carried_[k]);
    PutBytes(out, kTagLayouts, layout);
  }
  PutBytes(out, kTagKind, kinds_);
  for (int f = 0; f < shape_.columns; ++f)
    if (!column_[f].empty()) PutBytes(out, kTagFirstColumn + static_cast<uint32_t>(f), column_[f]);
  return out;
}

absl::Status ColumnReader::Bad(std::string_view what) const {
  return absl::DataLossError(i18n::Format("malformed {}: {}", i18n::Text(shape_->what), what));
}

absl::Status ColumnReader::Layout(std::string_view message) {
  Fields fields(message);
  uint64_t kind = 0, count = 0, columns = 0;
  while (fields.Next()) {
    if (fields.field == 1) kind = fields.number;
    if (fields.field == 2) count = fields.number;
    if (fields.field == 3) columns = fields.number;
  }
  if (!fields.ok() || kind > 255 || counts_[kind] != 0 || count == 0 || count > shape_->most_rows)
    return Bad(i18n::Text("bad layout"));
  if (columns >> shape_->columns != 0 || (columns & 1) == 0)
    return Bad(i18n::Format("the layout of kind {} has the invalid columns {:#x}", kind, columns));
  counts_[kind] = static_cast<uint32_t>(count);
  carried_[kind] = static_cast<uint32_t>(columns);
  return absl::OkStatus();
}

absl::Status ColumnReader::Open(std::string_view payload, const ColumnShape& shape) {
  *this = ColumnReader();
  shape_ = &shape;
  Fields fields(payload);
  std::string_view kinds;
  while (fields.Next()) {
    const bool column = fields.field >= kTagFirstColumn &&
                        fields.field < kTagFirstColumn + static_cast<uint32_t>(shape.columns);
    if (fields.field > shape.last_number && !column) continue;
    const bool bytes = column || fields.field == kTagLayouts || fields.field == kTagKind;
    if ((fields.wire == kWireBytes) != bytes)
      return Bad(i18n::Format("unexpected field {}", fields.field));
    if (column) {
      Column& of = column_[fields.field - kTagFirstColumn];
      if (of.at != nullptr) return Bad(i18n::Text("a column occurs twice"));
      of.at = reinterpret_cast<const unsigned char*>(fields.bytes.data());
      of.end = of.at + fields.bytes.size();
    } else if (fields.field == kTagLayouts) {
      if (absl::Status s = Layout(fields.bytes); !s.ok()) return s;
    } else if (fields.field == kTagKind) {
      kinds = fields.bytes;
    } else {
      numbers_[fields.field] = fields.number;
    }
  }
  if (!fields.ok()) return Bad(i18n::Text("the message is cut off or malformed"));
  const uint64_t count = numbers_[kTagCount];
  if (count == 0 || count > shape.most_rows || count != kinds.size())
    return Bad(i18n::Format("the message states {} rows, but gives a kind for {} rows", count,
                            kinds.size()));
  std::array<uint32_t, 256> seen{};
  for (const char kind : kinds) ++seen[static_cast<uint8_t>(kind)];
  if (seen != counts_)
    return Bad(i18n::Text(
        "for at least one kind of row, the number of rows differs from the number that the "
        "layout of this kind states"));
  // Checks the sizes of columns before any value is read: a varint has at least one byte, so a
  // column has at most as many values as bytes.
  std::array<uint64_t, kMostColumns> values{};
  for (int k = 0; k < 256; ++k)
    for (int f = 0; f < shape.columns; ++f)
      if (carried_[k] >> f & 1) values[f] += counts_[k];
  for (int f = 0; f < shape.columns; ++f) {
    const auto size = static_cast<uint64_t>(column_[f].end - column_[f].at);
    if (shape.byte_columns >> f & 1 ? size != values[f] : size < values[f])
      return Bad(i18n::Format("column {} has {} bytes for {} values", kTagFirstColumn + f, size,
                              values[f]));
  }
  count_ = static_cast<uint32_t>(count);
  kinds_ = reinterpret_cast<const unsigned char*>(kinds.data());
  return absl::OkStatus();
}

bool ColumnReader::AllRead() const {
  for (const Column& column : column_)
    if (column.at != column.end) return false;
  return true;
}

}  // namespace vramscope::trace
