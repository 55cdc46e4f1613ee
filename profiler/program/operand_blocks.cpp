#include "profiler/program/operand_blocks.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace vramscope::program {
namespace {

using recording::Action;
using recording::EntryIndex;
using trace::Activity;
using trace::ActivityKind;

struct Given {
  EntryIndex behind;  // number of entries before the operand
  uint32_t operand;   // index among all operands
  uint8_t device;
  uint64_t address;
};

// The positions of a program's allocator requests, by device.
class Requests {
 public:
  explicit Requests(const recording::EntryTable& entries) {
    for (EntryIndex i = 0; i < entries.size(); ++i)
      if (entries.action[i] == Action::kAlloc || entries.action[i] == Action::kFreeRequested)
        of_device_[entries.DeviceOf(i)].push_back(i);
  }
  // Sets `behind` to the position after this many requests. Returns false if there are fewer.
  bool Behind(uint8_t device, uint64_t requests, EntryIndex& behind) const {
    const std::vector<EntryIndex>& rows = of_device_[device];
    if (requests == 0 || requests > rows.size()) return false;
    behind = rows[requests - 1] + 1;
    return true;
  }

 private:
  std::array<std::vector<EntryIndex>, 256> of_device_;
};

std::vector<Given> ByPlace(const std::vector<Activity>& rows, const recording::Recording& recording,
                           bool of_driver, int64_t origin_ns, uint32_t& operands) {
  std::vector<Given> given;
  const Requests requests(recording.entries);
  const std::vector<int64_t>& times = recording.entries.time_ns;
  int64_t last = -1;  // time of the last driver call so far
  for (const Activity& row : rows) {
    if (row.kind == ActivityKind::kDriverAlloc || row.kind == ActivityKind::kDriverFree)
      last = std::max(last, row.begin_ns - origin_ns);
    if (row.kind != ActivityKind::kOperand) continue;
    const uint32_t operand = operands++;
    EntryIndex behind = 0;
    if (of_driver)
      behind = static_cast<EntryIndex>(std::upper_bound(times.begin(), times.end(), last) -
                                       times.begin());
    else if (!requests.Behind(row.device, row.bytes, behind))
      continue;
    given.push_back({behind, operand, row.device, row.address});
  }
  const auto earlier = [](const Given& a, const Given& b) { return a.behind < b.behind; };
  if (!std::is_sorted(given.begin(), given.end(), earlier))
    std::stable_sort(given.begin(), given.end(), earlier);
  return given;
}

}  // namespace

std::vector<uint32_t> BlocksOfOperands(const std::vector<Activity>& rows,
                                       const recording::Recording& recording,
                                       const recording::History& history, bool of_driver,
                                       int64_t origin_ns) {
  uint32_t operands = 0;
  const std::vector<Given> given = ByPlace(rows, recording, of_driver, origin_ns, operands);
  std::vector<uint32_t> blocks(operands, kNoBlock);
  if (given.empty()) return blocks;
  const recording::EntryTable& e = recording.entries;
  const recording::History::Allocations& a = history.allocations;
  std::map<std::pair<uint8_t, uint64_t>, uint32_t> live;  // keyed by device and address
  for (uint32_t row = 0; row < history.older; ++row) live[{a.device[row], a.address[row]}] = row;
  EntryIndex next = 0;
  for (const Given& g : given) {
    for (; next < g.behind; ++next) {
      const uint32_t row = history.allocation_of_entry[next];
      if (row >= a.size()) continue;
      const std::pair key(a.device[row], a.address[row]);
      if (e.action[next] == Action::kAlloc)
        live[key] = row;
      else if (const auto at = live.find(key); at != live.end() && at->second == row)
        live.erase(at);
    }
    auto at = live.upper_bound({g.device, g.address});
    if (at == live.begin()) continue;
    --at;
    const auto [device, address] = at->first;
    if (device == g.device && g.address - address < a.bytes[at->second])
      blocks[g.operand] = at->second;
  }
  return blocks;
}

}  // namespace vramscope::program
