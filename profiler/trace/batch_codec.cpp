#include "profiler/trace/batch_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "profiler/trace/varint.h"

namespace vramscope::trace {
namespace {

// Field numbers of proto::EventBatch.
constexpr uint32_t kTagFirstEvent = 1;
constexpr uint32_t kTagCount = 2;
constexpr uint32_t kTagLayouts = 3;
constexpr uint32_t kTagKind = 4;
constexpr uint32_t kTagFirstTime = 5;
constexpr uint32_t kTagFirstAllocation = 6;
constexpr uint32_t kTagFirstSegment = 7;
constexpr uint32_t kTagAddressShift = 8;
constexpr uint32_t kTagRoundingUnit = 9;
constexpr uint32_t kTagFirstColumn = 16;
constexpr uint32_t kWireVarint = 0;
constexpr uint32_t kWireBytes = 2;

constexpr int kColumnTime = 0, kColumnId = 1, kColumnAddress = 2, kColumnBytes = 3,
              kColumnRounded = 4, kColumnName = 5, kColumnModule = 6, kColumnCategory = 7,
              kColumnDetail = 8, kColumnStream = 9, kColumnThread = 10, kColumnDevice = 11,
              kColumnPool = 12, kColumnDuration = 13, kColumnStack = 14, kColumnMempool = 15,
              kColumnUserMetadata = 16, kColumnCompileContext = 17;
constexpr uint32_t kByteColumns = kFieldCategory | kFieldDetail | kFieldDevice | kFieldPool;

void PutNumber(std::string& out, uint32_t field, uint64_t value) {
  PutVarint(out, field << 3 | kWireVarint);
  PutVarint(out, value);
}
void PutBytes(std::string& out, uint32_t field, std::string_view value) {
  PutVarint(out, field << 3 | kWireBytes);
  PutVarint(out, value.size());
  out.append(value);
}

// What is stored for each field of one event: zero where the prediction holds.
using Values = std::array<uint64_t, kFieldCount>;

void Residuals(const Event& e, const Predictor& predictor, uint32_t shift, Values& v) {
  v[kColumnId] = ZigZag(static_cast<int64_t>(e.id - predictor.Id(e.kind)));
  v[kColumnAddress] =
      ZigZag(static_cast<int64_t>((e.address >> shift) - predictor.Address(e.kind)));
  v[kColumnBytes] = e.bytes;
  v[kColumnRounded] =
      ZigZag(static_cast<int64_t>(e.bytes_rounded - predictor.Rounded(e.kind, e.bytes)));
  v[kColumnName] = e.name.value;
  v[kColumnModule] = e.module.value;
  v[kColumnCategory] = static_cast<uint8_t>(e.category);
  v[kColumnDetail] = e.detail;
  v[kColumnStream] = e.stream;
  v[kColumnThread] = e.thread;
  v[kColumnDevice] = e.device;
  v[kColumnPool] = static_cast<uint8_t>(e.pool);
  v[kColumnDuration] = e.duration_ns;
  v[kColumnStack] = e.stack.value;
  v[kColumnMempool] = e.mempool;
  v[kColumnUserMetadata] = e.user_metadata.value;
  v[kColumnCompileContext] = e.compile_context.value;
}

// The unit that most blocks of the batch are rounded to: the caching allocator's 512, a CPU
// allocator's 64, or none.
uint32_t RoundingUnit(std::span<const Event> events) {
  constexpr uint32_t kUnits[] = {512, 64, 1};
  uint64_t hits[3] = {};
  for (const Event& e : events) {
    if (e.kind != EventKind::kAlloc) continue;
    for (int u = 0; u < 3; ++u)
      hits[u] += e.bytes_rounded == (e.bytes + (kUnits[u] - 1)) / kUnits[u] * kUnits[u];
  }
  return kUnits[std::max_element(hits, hits + 3) - hits];
}

}  // namespace

std::string EncodeBatch(std::span<const Event> events, const BatchStart& start) {
  uint64_t addresses = 0;
  for (const Event& e : events)
    if (kFieldsOfKind[static_cast<uint8_t>(e.kind)] & kFieldAddress) addresses |= e.address;
  const uint32_t shift = addresses == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(addresses));
  const uint32_t unit = RoundingUnit(events);

  // First what each kind needs, then the columns.
  std::array<uint32_t, 256> counts{}, columns{};
  Values values{};
  {
    Predictor predictor(start, shift, unit);
    for (const Event& raw : events) {
      const Event e = Normalized(raw);
      const auto kind = static_cast<uint8_t>(e.kind);
      ++counts[kind];
      Residuals(e, predictor, shift, values);
      uint32_t used = 0;
      for (int f = 1; f < kFieldCount; ++f) used |= static_cast<uint32_t>(values[f] != 0) << f;
      columns[kind] |= used;
      predictor.See(e);
    }
  }
  for (int k = 0; k < 256; ++k)
    if (counts[k] > 0) columns[k] |= kFieldTime;

  std::array<std::string, kFieldCount> column;
  std::string kinds;
  kinds.reserve(events.size());
  column[kColumnTime].reserve(events.size() * 2);
  Predictor predictor(start, shift, unit);
  int64_t time = events.front().time_ns;
  for (const Event& raw : events) {
    const Event e = Normalized(raw);
    const auto kind = static_cast<uint8_t>(e.kind);
    kinds.push_back(static_cast<char>(kind));
    Residuals(e, predictor, shift, values);
    values[kColumnTime] = static_cast<uint64_t>(e.time_ns) - static_cast<uint64_t>(time);
    time = e.time_ns;
    for (uint32_t left = columns[kind]; left != 0; left &= left - 1) {
      const int f = std::countr_zero(left);
      if (kByteColumns >> f & 1)
        column[f].push_back(static_cast<char>(values[f]));
      else
        PutVarint(column[f], values[f]);
    }
    predictor.See(e);
  }

  std::string out;
  PutNumber(out, kTagFirstEvent, start.event);
  PutNumber(out, kTagCount, events.size());
  for (uint32_t k = 0; k < 256; ++k) {
    if (counts[k] == 0) continue;
    std::string layout;
    PutNumber(layout, 1, k);
    PutNumber(layout, 2, counts[k]);
    PutNumber(layout, 3, columns[k]);
    PutBytes(out, kTagLayouts, layout);
  }
  PutBytes(out, kTagKind, kinds);
  PutNumber(out, kTagFirstTime, ZigZag(events.front().time_ns));
  PutNumber(out, kTagFirstAllocation, start.allocation);
  PutNumber(out, kTagFirstSegment, start.segment);
  PutNumber(out, kTagAddressShift, shift);
  PutNumber(out, kTagRoundingUnit, unit);
  for (uint32_t f = 0; f < kFieldCount; ++f)
    if (!column[f].empty()) PutBytes(out, kTagFirstColumn + f, column[f]);
  return out;
}

namespace {

// Steps through the fields of a protobuf message; groups and fixed-size fields are passed over.
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

absl::Status NotABatch(std::string_view what) {
  return absl::DataLossError(fmt::format("not an event batch: {}", what));
}

}  // namespace

absl::Status BatchDecoder::Layout(std::string_view message) {
  Fields fields(message);
  uint64_t kind = 0, count = 0, columns = 0;
  while (fields.Next()) {
    if (fields.field == 1) kind = fields.number;
    if (fields.field == 2) count = fields.number;
    if (fields.field == 3) columns = fields.number;
  }
  if (!fields.ok() || kind > 255 || counts_[kind] != 0 || count == 0 || count > kMaxBatchEvents)
    return NotABatch("bad layout");
  if ((columns & ~uint64_t{kAllFields}) != 0 || (columns & kFieldTime) == 0)
    return NotABatch(fmt::format("layout of kind {} with columns {:#x}", kind, columns));
  counts_[kind] = static_cast<uint32_t>(count);
  columns_[kind] = static_cast<uint32_t>(columns);
  return absl::OkStatus();
}

absl::Status BatchDecoder::Open(std::string_view payload) {
  *this = BatchDecoder();
  Fields fields(payload);
  uint64_t count = 0, shift = 0, unit = 0;
  std::string_view kinds;
  while (fields.Next()) {
    const bool is_bytes = fields.wire == kWireBytes;
    const bool want_bytes =
        fields.field == kTagLayouts || fields.field == kTagKind || fields.field >= kTagFirstColumn;
    const bool known = fields.field <= kTagRoundingUnit ||
                       (fields.field >= kTagFirstColumn &&
                        fields.field < kTagFirstColumn + static_cast<uint32_t>(kFieldCount));
    if (!known) continue;
    if (is_bytes != want_bytes) return NotABatch(fmt::format("field {}", fields.field));
    switch (fields.field) {
      case kTagFirstEvent:
        start_.event = fields.number;
        break;
      case kTagCount:
        count = fields.number;
        break;
      case kTagLayouts:
        if (absl::Status s = Layout(fields.bytes); !s.ok()) return s;
        break;
      case kTagKind:
        kinds = fields.bytes;
        break;
      case kTagFirstTime:
        time_ns_ = UnZigZag(fields.number);
        break;
      case kTagFirstAllocation:
        start_.allocation = fields.number;
        break;
      case kTagFirstSegment:
        start_.segment = fields.number;
        break;
      case kTagAddressShift:
        shift = fields.number;
        break;
      case kTagRoundingUnit:
        unit = fields.number;
        break;
      default: {
        if (fields.field < kTagFirstColumn) break;
        Column& column = column_[fields.field - kTagFirstColumn];
        if (column.at != nullptr) return NotABatch("a column in two pieces");
        column.at = reinterpret_cast<const unsigned char*>(fields.bytes.data());
        column.end = column.at + fields.bytes.size();
      }
    }
  }
  if (!fields.ok()) return NotABatch("cut or malformed message");
  if (count == 0 || count > kMaxBatchEvents || count != kinds.size())
    return NotABatch(fmt::format("{} events stated, {} kinds present", count, kinds.size()));
  if (shift > 63 || unit > (1u << 30)) return NotABatch("bad address shift or rounding unit");
  std::array<uint32_t, 256> seen{};
  for (const char kind : kinds) ++seen[static_cast<uint8_t>(kind)];
  if (seen != counts_) return NotABatch("layouts and kinds disagree");
  // A varint has at least one byte, so a column's bytes bound its events before anything is read.
  std::array<uint64_t, kFieldCount> values{};
  for (int k = 0; k < 256; ++k)
    for (int f = 0; f < kFieldCount; ++f)
      if (columns_[k] >> f & 1) values[f] += counts_[k];
  for (int f = 0; f < kFieldCount; ++f) {
    const auto size = static_cast<uint64_t>(column_[f].end - column_[f].at);
    const bool bytes = kByteColumns >> f & 1;
    if (bytes ? size != values[f] : size < values[f])
      return NotABatch(fmt::format("column {} has {} bytes for {} values", kTagFirstColumn + f,
                                   size, values[f]));
  }
  count_ = static_cast<uint32_t>(count);
  shift_ = static_cast<uint32_t>(shift);
  kinds_ = reinterpret_cast<const unsigned char*>(kinds.data());
  predictor_ = Predictor(start_, shift_, static_cast<uint32_t>(unit));
  return absl::OkStatus();
}

size_t BatchDecoder::Fail(std::string_view what) {
  status_ = NotABatch(fmt::format("event {}: {}", start_.event + next_, what));
  return 0;
}

size_t BatchDecoder::Read(std::span<Event> out) {
  if (!status_.ok()) return 0;
  const size_t n = std::min<size_t>(out.size(), count_ - next_);
  for (size_t i = 0; i < n; ++i) {
    Event& e = out[i];
    e = Event();
    e.kind = static_cast<EventKind>(kinds_[next_]);
    uint64_t v = 0;
    const auto number = [&](int f) { return GetVarint(column_[f].at, column_[f].end, v); };
    const auto byte = [&](int f) { return *column_[f].at++; };  // its length was checked in Open
    if (!number(kColumnTime)) return Fail("time");
    time_ns_ = static_cast<int64_t>(static_cast<uint64_t>(time_ns_) + v);
    e.time_ns = time_ns_;
    const uint32_t carries = columns_[kinds_[next_]];
    bool fits = true;
    const auto small = [&](int f) {
      fits = fits && number(f) && v <= UINT32_MAX;
      return static_cast<uint32_t>(v);
    };
    v = 0;
    if ((carries & kFieldId) && !number(kColumnId)) return Fail("id");
    e.id = predictor_.Id(e.kind) + static_cast<uint64_t>(UnZigZag(v));
    v = 0;
    if ((carries & kFieldAddress) && !number(kColumnAddress)) return Fail("address");
    e.address = (predictor_.Address(e.kind) + static_cast<uint64_t>(UnZigZag(v))) << shift_;
    if (carries & kFieldBytes) {
      if (!number(kColumnBytes)) return Fail("bytes");
      e.bytes = v;
    }
    v = 0;
    if ((carries & kFieldRounded) && !number(kColumnRounded)) return Fail("bytes_rounded");
    e.bytes_rounded = predictor_.Rounded(e.kind, e.bytes) + static_cast<uint64_t>(UnZigZag(v));
    if (carries & kFieldName) e.name.value = small(kColumnName);
    if (carries & kFieldModule) e.module.value = small(kColumnModule);
    if (carries & kFieldCategory) e.category = static_cast<Category>(byte(kColumnCategory));
    if (carries & kFieldDetail) e.detail = byte(kColumnDetail);
    if (carries & kFieldStream) e.stream = small(kColumnStream);
    if (carries & kFieldThread) e.thread = small(kColumnThread);
    if (carries & kFieldDevice) e.device = byte(kColumnDevice);
    if (carries & kFieldPool) e.pool = static_cast<Pool>(byte(kColumnPool));
    if (carries & kFieldDuration) {
      if (!number(kColumnDuration)) return Fail("duration");
      e.duration_ns = v;
    }
    if (carries & kFieldStack) e.stack.value = small(kColumnStack);
    if (carries & kFieldMempool) e.mempool = small(kColumnMempool);
    if (carries & kFieldUserMetadata) e.user_metadata.value = small(kColumnUserMetadata);
    if (carries & kFieldCompileContext) e.compile_context.value = small(kColumnCompileContext);
    if (!fits) return Fail("a value cut or out of range");
    predictor_.See(e);
    ++next_;
  }
  if (next_ == count_)
    for (const Column& column : column_)
      if (column.at != column.end) return Fail("bytes left over in a column");
  return n;
}

}  // namespace vramscope::trace
