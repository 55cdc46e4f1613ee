#include "profiler/trace/activities.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/columns.h"

namespace vramscope::trace {

std::string_view Name(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return "kernel";
    case ActivityKind::kMemcpy:
      return "memcpy";
    case ActivityKind::kMemset:
      return "memset";
    case ActivityKind::kSynchronization:
      return "synchronization";
    case ActivityKind::kCollective:
      return "collective";
    case ActivityKind::kRuntimeCall:
      return "runtime call";
    case ActivityKind::kDriverCall:
      return "driver call";
    case ActivityKind::kDriverAlloc:
      return "driver allocation";
    case ActivityKind::kDriverFree:
      return "driver free";
    case ActivityKind::kOverhead:
      return "overhead";
    case ActivityKind::kRange:
      return "range";
    case ActivityKind::kCounter:
      return "counter";
    case ActivityKind::kOperand:
      return "operand";
  }
  return "unknown";
}

std::string_view Name(MemorySpace space) {
  switch (space) {
    case MemorySpace::kUnknown:
      return "unknown";
    case MemorySpace::kDevice:
      return "device";
    case MemorySpace::kPinned:
      return "pinned";
    case MemorySpace::kPageable:
      return "pageable";
    case MemorySpace::kManaged:
      return "managed";
    case MemorySpace::kDisk:
      return "disk";
  }
  return "unknown";
}

Activity ActivityTable::Row(uint32_t row) const {
  return {.kind = kind[row],
          .device = device[row],
          .from = from[row],
          .to = to[row],
          .stream = stream[row],
          .thread = thread[row],
          .name = name[row],
          .op = op[row],
          .module = module[row],
          .correlation = correlation[row],
          .address = address[row],
          .bytes = bytes[row],
          .begin_ns = begin_ns[row],
          .end_ns = end_ns[row]};
}

void ActivityTable::Append(const Activity& activity) {
  kind.push_back(activity.kind);
  device.push_back(activity.device);
  from.push_back(activity.from);
  to.push_back(activity.to);
  stream.push_back(activity.stream);
  thread.push_back(activity.thread);
  name.push_back(activity.name);
  op.push_back(activity.op);
  module.push_back(activity.module);
  correlation.push_back(activity.correlation);
  address.push_back(activity.address);
  bytes.push_back(activity.bytes);
  begin_ns.push_back(activity.begin_ns);
  end_ns.push_back(activity.end_ns);
}

absl::Status CheckActivity(const Activity& a, size_t strings) {
  if (static_cast<int>(a.kind) >= kActivityKindCount)
    return absl::DataLossError(
        i18n::Format("unknown kind of activity {}", static_cast<int>(a.kind)));
  if (static_cast<int>(a.from) >= kMemorySpaceCount || static_cast<int>(a.to) >= kMemorySpaceCount)
    return absl::DataLossError(i18n::Format("a {} between unknown kinds of memory: from {} to {}",
                                            Name(a.kind), static_cast<int>(a.from),
                                            static_cast<int>(a.to)));
  if (a.end_ns < a.begin_ns)
    return absl::DataLossError(i18n::Format("a {} begins at {} ns, but ends at {} ns", Name(a.kind),
                                            a.begin_ns, a.end_ns));
  const uint32_t highest = std::max({a.name.value, a.op.value, a.module.value});
  if (highest >= strings)
    return absl::DataLossError(i18n::Format("a {} uses string {}, but there are only {} strings",
                                            Name(a.kind), highest, strings));
  return absl::OkStatus();
}

namespace {

constexpr std::pair<MemorySpace, std::string_view> kSpaceWords[] = {
    {MemorySpace::kDevice, "Device"},     {MemorySpace::kPinned, "Pinned"},
    {MemorySpace::kPageable, "Pageable"}, {MemorySpace::kManaged, "Managed"},
    {MemorySpace::kDisk, "Disk"},         {MemorySpace::kUnknown, "Unknown"}};

std::string_view Word(MemorySpace space) {
  for (const auto& [of, word] : kSpaceWords)
    if (of == space) return word;
  return "Unknown";
}

MemorySpace SpaceOfWord(std::string_view word) {
  for (const auto& [space, of] : kSpaceWords)
    if (of == word) return space;
  return MemorySpace::kUnknown;
}

char Side(MemorySpace space) {
  switch (space) {
    case MemorySpace::kDevice:
      return 'D';
    case MemorySpace::kPinned:
    case MemorySpace::kPageable:
      return 'H';
    default:
      return '?';
  }
}

constexpr std::string_view kPeerCopy = "Memcpy PtoP";

}  // namespace

std::string CopyName(MemorySpace from, MemorySpace to, bool peer) {
  const std::string sides =
      peer ? std::string(kPeerCopy) : fmt::format("Memcpy {}to{}", Side(from), Side(to));
  return fmt::format("{} ({} -> {})", sides, Word(from), Word(to));
}

std::string SetName(MemorySpace to) { return fmt::format("Memset ({})", Word(to)); }

bool IsPeerCopyName(std::string_view name) { return name.starts_with(kPeerCopy); }

MemorySpaces SpacesOfName(std::string_view name) {
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return {};
  const std::string_view words = name.substr(open + 1, name.size() - open - 2);
  const size_t arrow = words.find(" -> ");
  if (arrow == std::string_view::npos) return {.to = SpaceOfWord(words)};
  return {SpaceOfWord(words.substr(0, arrow)), SpaceOfWord(words.substr(arrow + 4))};
}

void SortActivities(ActivityTable& table) {
  if (std::is_sorted(table.begin_ns.begin(), table.begin_ns.end())) return;
  std::vector<uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return table.begin_ns[a] < table.begin_ns[b]; });
  ForEachColumn(
      [&order](auto& column) {
        std::remove_reference_t<decltype(column)> sorted;
        sorted.reserve(order.size());
        for (const uint32_t row : order) sorted.push_back(column[row]);
        column = std::move(sorted);
      },
      table);
}

}  // namespace vramscope::trace
