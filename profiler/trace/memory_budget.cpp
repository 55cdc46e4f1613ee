#include "profiler/trace/memory_budget.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::trace {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

std::optional<uint64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;  // "max": no limit
  return value;
}

// MemAvailable in /proc/meminfo.
uint64_t AvailableOnComputer() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (uint64_t kib = 0; file >> key >> kib; std::getline(file, unit))
    if (key == "MemAvailable:") return kib * 1024;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                               : kUnknown;
}

// Returns the memory that the process's control group (version 1 or 2) has left. Actually more is
// left: a control group counts cached files as used, although the kernel would drop them.
uint64_t AvailableInGroup() {
  uint64_t least = kUnknown;
  constexpr const char* kFiles[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
       "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [most_file, now_file] : kFiles) {
    const std::optional<uint64_t> most = NumberIn(most_file), now = NumberIn(now_file);
    if (most && now) least = std::min(least, *most - std::min(*most, *now / 2));
  }
  return least;
}

}  // namespace

uint64_t AvailableMemory() { return std::min(AvailableOnComputer(), AvailableInGroup()); }

MemoryBudget::MemoryBudget(const InputStream& input, uint64_t limit, bool packed)
    : input_(input),
      fixed_(limit),
      available_(AvailableMemory() / 10 * 9),
      trace_(packed),
      packed_(packed || input.compressed()) {
  limit_ = std::min(available_, OfFile());
}

uint64_t MemoryBudget::OfFile() const {
  if (fixed_ > 0) return fixed_;
  const uint64_t bytes = std::max(input_.total(), input_.consumed());
  const uint64_t each = packed_ ? kPerCompressedByte : kPerByte;
  uint64_t limit = std::max(kFloor, std::min(bytes, kUnknown / each) * each);
  if (packed_ && limit > kLarge) limit = kLarge + (bytes - kLarge / each) * kPerByteOfLarge;
  if (!trace_) return limit;
  return std::max(limit, std::min(kMostOfTrace / kPerTraceByte, bytes) * kPerTraceByte);
}

bool MemoryBudget::UpdateLimit() {
  limit_ = std::min(available_, OfFile());
  exhausted_ |= used_ > limit_;
  return !exhausted_;
}

absl::Status MemoryBudget::Exceeded(std::string_view what, std::string_view remedy) const {
  const std::string limit = run::FormatBytes(limit_);
  const std::string file = run::FormatBytes(std::max(input_.total(), input_.consumed()));
  const std::string behind = remedy.empty() ? std::string() : fmt::format("; {}", remedy);
  return absl::ResourceExhaustedError(
      limit_ == available_
          ? i18n::Format("{} take more than {} of host memory, which is all that is available{}",
                         what, limit, behind)
      : fixed_ > 0
          ? i18n::Format("{} take more than {} of host memory, which is the limit that was set{}",
                         what, limit, behind)
      : packed_ ? i18n::Format("{} take more than {} of host memory, which is the limit for a "
                               "compressed file of {}{}",
                               what, limit, file, behind)
                : i18n::Format(
                      "{} take more than {} of host memory, which is the limit for a file of {}{}",
                      what, limit, file, behind));
}

}  // namespace vramscope::trace
