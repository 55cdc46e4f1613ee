#include "profiler/trace/activity_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/column_message.h"

namespace vramscope::trace {
namespace {

constexpr uint32_t kTagFirstBegin = 5;  // field numbers of proto::ActivityBatch
constexpr uint32_t kTagOperandBlocks = 6;

enum Column : int {
  kBegin,
  kDuration,
  kDevice,
  kFrom,
  kTo,
  kStream,
  kThread,
  kName,
  kOp,
  kModule,
  kCorrelation,
  kAddress,
  kBytes,
  kColumns,
};

constexpr ColumnShape kShape = {.what = TEXT_MARK("activity batch"),
                                .columns = kColumns,
                                .byte_columns = 1u << kDevice | 1u << kFrom | 1u << kTo,
                                .most_rows = kMaxBatchActivities,
                                .last_number = kTagOperandBlocks};

// The values of the previous activity of the same kind. Differences from these are coded.
struct Last {
  uint64_t correlation = 0, address = 0;
};

// An operand's `bytes` is the time at which the block that contains its address was allocated. It
// is coded relative to the previous operands of the batch, because repeated steps reuse the same
// blocks, and use new blocks in the order of their allocation.
class OperandBlocks {
 public:
  // Codes one value. Returns false if the value cannot be coded.
  bool Code(uint64_t address, uint64_t made, uint64_t& code) {
    const auto [before, is_new] = made_.try_emplace(address, made);
    code = 0;
    if (!is_new && before->second == made) return true;
    before->second = made;
    code = 1 + ZigZag(static_cast<int64_t>(made - std::exchange(last_, made)));
    return code != 0;
  }
  // The inverse of Code(). Returns false if no operand has this code.
  bool Decode(uint64_t address, uint64_t code, uint64_t& made) {
    const auto [before, is_new] = made_.try_emplace(address);
    if (code == 0) {
      made = before->second;
      return !is_new;
    }
    made = before->second = last_ += static_cast<uint64_t>(UnZigZag(code - 1));
    return true;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> made_;  // keyed by address: the time of its last block
  uint64_t last_ = 0;                            // the time of the last new block
};

// Returns one code per operand, in order; no codes if any operand cannot be coded.
std::vector<uint64_t> CodesOfBlocks(const std::vector<Activity>& activities) {
  std::vector<uint64_t> codes;
  OperandBlocks blocks;
  for (const Activity& a : activities) {
    if (a.kind != ActivityKind::kOperand) continue;
    if (!blocks.Code(a.address, a.bytes, codes.emplace_back())) return {};
  }
  return codes;
}

using Values = std::array<uint64_t, kColumns>;

Values ValuesOf(const Activity& a, uint64_t begin_before, const Last& last) {
  Values v{};
  v[kBegin] = static_cast<uint64_t>(a.begin_ns) - begin_before;
  v[kDuration] = static_cast<uint64_t>(a.end_ns) - static_cast<uint64_t>(a.begin_ns);
  v[kDevice] = a.device;
  v[kFrom] = static_cast<uint64_t>(a.from);
  v[kTo] = static_cast<uint64_t>(a.to);
  v[kStream] = a.stream;
  v[kThread] = a.thread;
  v[kName] = a.name.value;
  v[kOp] = a.op.value;
  v[kModule] = a.module.value;
  v[kCorrelation] = ZigZag(static_cast<int64_t>(a.correlation - last.correlation));
  v[kAddress] = ZigZag(static_cast<int64_t>(a.address - last.address));
  v[kBytes] = a.bytes;
  return v;
}

// Calls see(kind, values) for every activity.
template <class See>
void ForEachRow(const std::vector<Activity>& activities, const std::vector<uint64_t>& codes,
                See see) {
  std::array<Last, 256> last{};
  auto code = codes.begin();
  auto begin = static_cast<uint64_t>(activities.front().begin_ns);
  for (const Activity& a : activities) {
    const auto kind = static_cast<uint8_t>(a.kind);
    Values values = ValuesOf(a, begin, last[kind]);
    if (a.kind == ActivityKind::kOperand && code != codes.end()) values[kBytes] = *code++;
    see(kind, values);
    begin = static_cast<uint64_t>(a.begin_ns);
    last[kind] = {a.correlation, a.address};
  }
}

}  // namespace

void SortByBegin(std::vector<Activity>& activities) {
  const auto earlier = [](const Activity& a, const Activity& b) { return a.begin_ns < b.begin_ns; };
  if (!std::is_sorted(activities.begin(), activities.end(), earlier))
    std::stable_sort(activities.begin(), activities.end(), earlier);
}

std::string EncodeActivities(const std::vector<Activity>& in_order) {
  ColumnWriter writer(kShape, in_order.size());
  const std::vector<uint64_t> codes = CodesOfBlocks(in_order);
  ForEachRow(in_order, codes, [&](uint8_t kind, const Values& values) {
    uint32_t used = 0;
    for (int f = 0; f < kColumns; ++f) used |= static_cast<uint32_t>(values[f] != 0) << f;
    writer.Plan(kind, used);
  });
  ForEachRow(in_order, codes,
             [&](uint8_t kind, const Values& values) { writer.Put(kind, values); });
  const std::pair<uint32_t, uint64_t> numbers[] = {
      {kTagFirstBegin, ZigZag(in_order.front().begin_ns)},
      {kTagOperandBlocks, codes.empty() ? 0 : 1}};
  return writer.Message(numbers);
}

absl::Status DecodeActivities(std::string_view payload, std::vector<Activity>& activities) {
  activities.clear();
  ColumnReader in;
  if (absl::Status s = in.Open(payload, kShape); !s.ok()) return s;
  activities.resize(in.count());
  std::array<Last, 256> last{};
  OperandBlocks blocks;
  const bool coded_blocks = in.number(kTagOperandBlocks) != 0;
  auto begin = static_cast<uint64_t>(UnZigZag(in.number(kTagFirstBegin)));
  for (uint32_t row = 0; row < in.count(); ++row) {
    Activity& a = activities[row];
    const uint8_t kind = in.KindOf(row);
    const uint32_t carried = in.CarriedBy(kind);
    bool whole = true;
    const auto number = [&](Column f) {
      uint64_t v = 0;
      if (carried >> f & 1) whole = in.Number(f, v) && whole;
      return v;
    };
    const auto small = [&](Column f) {
      const uint64_t v = number(f);
      whole = whole && v <= UINT32_MAX;
      return static_cast<uint32_t>(v);
    };
    const auto byte = [&](Column f) { return carried >> f & 1 ? in.Byte(f) : uint8_t{0}; };
    a.kind = static_cast<ActivityKind>(kind);
    begin += number(kBegin);
    a.begin_ns = static_cast<int64_t>(begin);
    a.end_ns = static_cast<int64_t>(begin + number(kDuration));
    a.device = byte(kDevice);
    a.from = static_cast<MemorySpace>(byte(kFrom));
    a.to = static_cast<MemorySpace>(byte(kTo));
    a.stream = small(kStream);
    a.thread = small(kThread);
    a.name.value = small(kName);
    a.op.value = small(kOp);
    a.module.value = small(kModule);
    last[kind].correlation += static_cast<uint64_t>(UnZigZag(number(kCorrelation)));
    last[kind].address += static_cast<uint64_t>(UnZigZag(number(kAddress)));
    a.correlation = last[kind].correlation;
    a.address = last[kind].address;
    a.bytes = number(kBytes);
    if (coded_blocks && a.kind == ActivityKind::kOperand)
      whole = blocks.Decode(a.address, a.bytes, a.bytes) && whole;
    if (!whole) return in.Bad(i18n::Format("row {}: a value is cut off or out of range", row));
  }
  if (!in.AllRead()) return in.Bad(i18n::Text("bytes are left over in a column"));
  return absl::OkStatus();
}

}  // namespace vramscope::trace
