#include "profiler/query/operand_links.h"

#include <algorithm>
#include <utility>

namespace vramscope::query {
namespace {

// A launch has at most 512 addresses in its parameters, but a file may contain any number.
constexpr uint32_t kMostOfOne = 4096;

bool IsWork(trace::ActivityKind kind) {
  return trace::IsOfDevice(kind) && kind != trace::ActivityKind::kCounter;
}

}  // namespace

std::string_view UseText(bool read, bool written) {
  if (read && written) return "read and written";
  return read ? "read" : written ? "written" : "touched";
}

int64_t OperandLinks::MadeAt(uint32_t operand) const {
  const int64_t begin = trace_.events.size() > 0 ? trace_.events.time_ns.front() : 0;
  return std::max(static_cast<int64_t>(trace_.operands.bytes[operand]), begin);
}

OperandLinks::Key OperandLinks::KeyOfOperand(uint32_t operand) const {
  const trace::OperandTable& o = trace_.operands;
  return {MadeAt(operand), o.device[operand], o.address[operand]};
}

OperandLinks::Key OperandLinks::KeyOfAllocation(uint32_t allocation) const {
  const trace::AllocationTable& a = trace_.allocations;
  return {a.begin_ns[allocation], a.device[allocation], a.address[allocation]};
}

void OperandLinks::Prepare() const { tables(); }

const OperandLinks::Tables& OperandLinks::tables() const {
  std::call_once(once_, [this] {
    if (!any()) return;
    const auto sorted = [](uint32_t rows, auto key) {
      std::vector<std::pair<Key, uint32_t>> keyed;
      keyed.reserve(rows);
      for (uint32_t row = 0; row < rows; ++row) keyed.emplace_back(key(row), row);
      if (!std::is_sorted(keyed.begin(), keyed.end())) std::sort(keyed.begin(), keyed.end());
      std::vector<uint32_t> order;
      order.reserve(rows);
      for (const auto& [of, row] : keyed) order.push_back(row);
      return order;
    };
    tables_.allocations =
        sorted(trace_.allocations.size(), [this](uint32_t row) { return KeyOfAllocation(row); });
    tables_.operands =
        sorted(trace_.operands.size(), [this](uint32_t row) { return KeyOfOperand(row); });
    bytes_ = (tables_.allocations.capacity() + tables_.operands.capacity()) * sizeof(uint32_t);
  });
  return tables_;
}

// Returns the block that contains the operand's address. If several such blocks were allocated at
// the same time, returns the last.
uint32_t OperandLinks::BlockOf(uint32_t operand) const {
  const trace::AllocationTable& a = trace_.allocations;
  const std::vector<uint32_t>& rows = tables().allocations;
  const Key key = KeyOfOperand(operand);
  const auto [made, device, address] = key;
  auto at = std::upper_bound(rows.begin(), rows.end(), key, [this](const Key& value, uint32_t row) {
    return value < KeyOfAllocation(row);
  });
  // Blocks of the same allocation time that overlap are consecutive. At most this many are
  // read.
  constexpr int kMostTogether = 64;
  uint32_t found = kNone;
  for (int looked = 0; at != rows.begin() && looked < kMostTogether; ++looked) {
    const uint32_t row = *--at;
    if (a.begin_ns[row] != made || a.device[row] != device) break;
    if (address - a.address[row] < a.bytes_rounded[row]) {
      if (found == kNone || row > found) found = row;
    } else if (found != kNone) {
      break;
    }
  }
  return found;
}

uint32_t OperandLinks::WorkOf(uint32_t operand, uint32_t& behind) const {
  const trace::OperandTable& o = trace_.operands;
  const trace::ActivityTable& a = trace_.activities;
  const int64_t begin = o.begin_ns[operand];
  // The activity is usually few rows after the last one that was found, so the search begins with
  // small steps.
  uint32_t step = 1;
  while (step < a.size() - behind && a.begin_ns[behind + step] < begin) {
    behind += step;
    step *= 2;
  }
  const auto from = a.begin_ns.begin() + behind;
  const uint32_t most = std::min(step, a.size() - behind);
  behind += static_cast<uint32_t>(std::lower_bound(from, from + most, begin) - from);
  uint32_t row = behind;
  const uint32_t end = row + std::min(a.size() - row, kMostOfOne);
  for (; row < end && a.begin_ns[row] == begin; ++row)
    if (IsWork(a.kind[row]) && a.correlation[row] == o.correlation[operand] &&
        a.device[row] == o.device[operand] && a.stream[row] == o.stream[operand])
      return row;
  return kNone;
}

std::vector<OperandLinks::Block> OperandLinks::BlocksOf(uint32_t activity, size_t most) const {
  const trace::OperandTable& o = trace_.operands;
  const trace::ActivityTable& a = trace_.activities;
  std::vector<Block> blocks;
  if (!IsWork(a.kind[activity])) return blocks;
  const int64_t begin = a.begin_ns[activity];
  auto row = static_cast<uint32_t>(std::lower_bound(o.begin_ns.begin(), o.begin_ns.end(), begin) -
                                   o.begin_ns.begin());
  std::vector<std::pair<uint64_t, Block>> found;
  const uint32_t end = row + std::min(o.size() - row, kMostOfOne);
  for (; row < end && o.begin_ns[row] == begin; ++row) {
    if (o.correlation[row] != a.correlation[activity] || o.device[row] != a.device[activity] ||
        o.stream[row] != a.stream[activity])
      continue;
    const uint32_t block = BlockOf(row);
    if (block == kNone) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const auto& entry) {
      return entry.second.allocation.value == block;
    });
    Block& of = same != found.end()
                    ? same->second
                    : found.emplace_back(trace_.allocations.address[block], Block{{block}}).second;
    of.read |= o.from[row] == trace::MemorySpace::kDevice;
    of.written |= o.to[row] == trace::MemorySpace::kDevice;
  }
  std::sort(found.begin(), found.end(),
            [](const auto& x, const auto& y) { return x.first < y.first; });
  for (const auto& [address, block] : found)
    if (blocks.size() < most) blocks.push_back(block);
  return blocks;
}

std::shared_ptr<const OperandLinks::Work> OperandLinks::WorkIn(uint32_t allocation) const {
  std::lock_guard lock(mutex_);
  if (asked_ == allocation) return work_;
  const std::vector<uint32_t>& rows = tables().operands;
  const auto [made, device, address] = KeyOfAllocation(allocation);
  const uint64_t bytes = trace_.allocations.bytes_rounded[allocation];
  const Key first(made, device, address);
  const Key last(made, device, bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes);
  const auto before = [this](uint32_t row, const Key& key) { return KeyOfOperand(row) < key; };
  // Usually, no other block was allocated at the same time. Then the operands need no
  // lookups.
  const std::vector<uint32_t>& by_key = tables().allocations;
  const auto here =
      std::lower_bound(by_key.begin(), by_key.end(), first,
                       [this](uint32_t row, const Key& key) { return KeyOfAllocation(row) < key; });
  const auto made_with_it = [&, made = made, device = device](auto at) {
    const auto [time, of, from] = KeyOfAllocation(*at);
    return time == made && of == device;
  };
  const bool alone = (here == by_key.begin() || !made_with_it(std::prev(here))) &&
                     (by_key.end() - here <= 1 || !made_with_it(std::next(here)));
  std::vector<uint32_t> operands;
  for (auto at = std::lower_bound(rows.begin(), rows.end(), first, before);
       at != rows.end() && before(*at, last); ++at)
    if (alone || BlockOf(*at) == allocation) operands.push_back(*at);
  std::sort(operands.begin(), operands.end());
  auto work = std::make_shared<Work>();
  uint32_t behind = 0;  // number of activities that begin before the operand
  for (const uint32_t operand : operands)
    if (const uint32_t row = WorkOf(operand, behind); row != kNone)
      work->emplace_back(row, operand);
  std::sort(work->begin(), work->end());
  asked_ = allocation;
  work_ = std::move(work);
  return work_;
}

OperandLinks::Touches OperandLinks::TouchesOf(trace::AllocationId allocation) const {
  Touches touches;
  const trace::OperandTable& o = trace_.operands;
  const auto take = [](Ends& of, uint32_t row) {
    if (of.first == kNone) of.first = row;
    of.last = row;
  };
  // Copies the pointer, because another thread may replace the cached result.
  const std::shared_ptr<const Work> work = WorkIn(allocation.value);
  for (const auto& [row, operand] : *work) {
    if (o.from[operand] == trace::MemorySpace::kDevice) take(touches.reads, row);
    if (o.to[operand] == trace::MemorySpace::kDevice) take(touches.writes, row);
    touches.count += touches.all.last != row;
    take(touches.all, row);
  }
  return touches;
}

std::vector<uint32_t> OperandLinks::TouchedBy(trace::AllocationId allocation, size_t most) const {
  std::vector<uint32_t> rows;
  const std::shared_ptr<const Work> work = WorkIn(allocation.value);  // a copy, as in TouchesOf()
  for (const auto& [row, operand] : *work) {
    if (rows.size() == most) break;
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }
  return rows;
}

}  // namespace vramscope::query
