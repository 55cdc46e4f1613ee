#include "profiler/trace/batch_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "profiler/base/i18n.h"

namespace vramscope::trace {
namespace {

// Field numbers of proto::EventBatch.
constexpr uint32_t kTagFirstEvent = 1;
constexpr uint32_t kTagFirstTime = 5;
constexpr uint32_t kTagFirstAllocation = 6;
constexpr uint32_t kTagFirstSegment = 7;
constexpr uint32_t kTagAddressShift = 8;
constexpr uint32_t kTagRoundingUnit = 9;

constexpr int kColumnTime = 0, kColumnId = 1, kColumnAddress = 2, kColumnBytes = 3,
              kColumnRounded = 4, kColumnName = 5, kColumnModule = 6, kColumnCategory = 7,
              kColumnDetail = 8, kColumnStream = 9, kColumnThread = 10, kColumnDevice = 11,
              kColumnPool = 12, kColumnDuration = 13, kColumnStack = 14, kColumnMempool = 15,
              kColumnUserMetadata = 16, kColumnCompileContext = 17;

constexpr ColumnShape kShape = {
    .what = TEXT_MARK("event batch"),
    .columns = kFieldCount,
    .byte_columns = kFieldCategory | kFieldDetail | kFieldDevice | kFieldPool,
    .most_rows = kMaxBatchEvents,
    .last_number = kTagRoundingUnit};
static_assert(kFieldCount <= kMostColumns);

// The stored numbers of one event: for id, address and rounded size, the differences from the
// predicted values; for other fields, the values themselves.
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
  v[kColumnStack] = e.stack.value;
  v[kColumnMempool] = e.mempool;
  v[kColumnUserMetadata] = e.user_metadata.value;
  v[kColumnCompileContext] = e.compile_context.value;
}

// Returns the unit to which most blocks of the batch are rounded: 512 for the caching allocator, 64
// for a CPU allocator. Returns 1 if they are not rounded.
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

  // The first pass finds the fields that each kind needs. The second pass writes the columns.
  ColumnWriter writer(kShape, events.size());
  Values values{};
  {
    Predictor predictor(start, shift, unit);
    for (const Event& raw : events) {
      const Event e = Normalized(raw);
      Residuals(e, predictor, shift, values);
      uint32_t used = 0;
      for (int f = 1; f < kFieldCount; ++f) used |= static_cast<uint32_t>(values[f] != 0) << f;
      writer.Plan(static_cast<uint8_t>(e.kind), used);
      predictor.See(e);
    }
  }
  Predictor predictor(start, shift, unit);
  int64_t time = events.front().time_ns;
  for (const Event& raw : events) {
    const Event e = Normalized(raw);
    Residuals(e, predictor, shift, values);
    values[kColumnTime] = static_cast<uint64_t>(e.time_ns) - static_cast<uint64_t>(time);
    time = e.time_ns;
    writer.Put(static_cast<uint8_t>(e.kind), values);
    predictor.See(e);
  }
  const std::pair<uint32_t, uint64_t> numbers[] = {{kTagFirstEvent, start.event},
                                                   {kTagFirstTime, ZigZag(events.front().time_ns)},
                                                   {kTagFirstAllocation, start.allocation},
                                                   {kTagFirstSegment, start.segment},
                                                   {kTagAddressShift, shift},
                                                   {kTagRoundingUnit, unit}};
  return writer.Message(numbers);
}

absl::Status BatchDecoder::Open(std::string_view payload) {
  *this = BatchDecoder();
  if (absl::Status s = in_.Open(payload, kShape); !s.ok()) return s;
  const uint64_t shift = in_.number(kTagAddressShift), unit = in_.number(kTagRoundingUnit);
  if (shift > 63 || unit > (1u << 30))
    return in_.Bad(
        i18n::Text("the shift of addresses or the rounding unit of block sizes is out of range"));
  start_ = {.event = in_.number(kTagFirstEvent),
            .allocation = in_.number(kTagFirstAllocation),
            .segment = in_.number(kTagFirstSegment)};
  time_ns_ = UnZigZag(in_.number(kTagFirstTime));
  shift_ = static_cast<uint32_t>(shift);
  predictor_ = Predictor(start_, shift_, static_cast<uint32_t>(unit));
  return absl::OkStatus();
}

size_t BatchDecoder::Fail(std::string_view what) {
  status_ = in_.Bad(i18n::Format("event {}: {}", start_.event + next_, what));
  return 0;
}

size_t BatchDecoder::Read(std::span<Event> out) {
  if (!status_.ok()) return 0;
  const size_t n = std::min<size_t>(out.size(), in_.count() - next_);
  for (size_t i = 0; i < n; ++i) {
    Event& e = out[i];
    e = Event();
    const uint8_t kind = in_.KindOf(next_);
    e.kind = static_cast<EventKind>(kind);
    uint64_t v = 0;
    const auto number = [&](int f) { return in_.Number(f, v); };
    const auto byte = [&](int f) { return in_.Byte(f); };
    if (!number(kColumnTime)) return Fail(i18n::Text("time"));
    time_ns_ = static_cast<int64_t>(static_cast<uint64_t>(time_ns_) + v);
    e.time_ns = time_ns_;
    const uint32_t carries = in_.CarriedBy(kind);
    bool fits = true;
    const auto small = [&](int f) {
      fits = fits && number(f) && v <= UINT32_MAX;
      return static_cast<uint32_t>(v);
    };
    v = 0;
    if ((carries & kFieldId) && !number(kColumnId)) return Fail(i18n::Text("id"));
    e.id = predictor_.Id(e.kind) + static_cast<uint64_t>(UnZigZag(v));
    v = 0;
    if ((carries & kFieldAddress) && !number(kColumnAddress)) return Fail(i18n::Text("address"));
    e.address = (predictor_.Address(e.kind) + static_cast<uint64_t>(UnZigZag(v))) << shift_;
    if (carries & kFieldBytes) {
      if (!number(kColumnBytes)) return Fail(i18n::Text("bytes"));
      e.bytes = v;
    }
    v = 0;
    if ((carries & kFieldRounded) && !number(kColumnRounded))
      return Fail(i18n::Text("bytes_rounded"));
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
      if (!number(kColumnDuration)) return Fail(i18n::Text("duration"));
      e.duration_ns = v;
    }
    if (carries & kFieldStack) e.stack.value = small(kColumnStack);
    if (carries & kFieldMempool) e.mempool = small(kColumnMempool);
    if (carries & kFieldUserMetadata) e.user_metadata.value = small(kColumnUserMetadata);
    if (carries & kFieldCompileContext) e.compile_context.value = small(kColumnCompileContext);
    if (!fits) return Fail(i18n::Text("a value is cut off or out of range"));
    predictor_.See(e);
    ++next_;
  }
  if (next_ == in_.count() && !in_.AllRead())
    return Fail(i18n::Text("bytes are left over in a column"));
  return n;
}

}  // namespace vramscope::trace
