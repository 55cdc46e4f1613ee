#include "ui/shell/run_cache.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "ui/panels/techniques.h"

namespace vramscope::ui {
namespace {

// Returns the size of a digest's long columns, which is nearly its total size.
uint64_t BytesOf(const Digest& digest) {
  constexpr uint64_t kEvent = 15, kAllocation = 130, kSlice = 50, kRetag = 10, kActivity = 20;
  const trace::Trace& t = *digest.trace;
  return t.events.size() * kEvent + t.allocations.size() * kAllocation + t.slices.size() * kSlice +
         t.retags.size() * kRetag + t.activities.size() * kActivity + digest.curves->MemoryBytes();
}

}  // namespace

uint64_t RunCache::DefaultBytes() {
  constexpr uint64_t kMost = uint64_t{1536} << 20, kLeast = uint64_t{384} << 20;
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return kLeast;
  return std::clamp(static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes) / 8, kLeast, kMost);
}

void RunCache::Put(const run::RunConfig& config, std::shared_ptr<const Digest> digest) {
  if (config.backend != run::Backend::kPlan || !digest->trace->complete) return;
  std::string key = PlanKey(config);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    bytes_ -= found->second->bytes;
    entries_.erase(found->second);
    by_key_.erase(found);
  }
  const uint64_t bytes = BytesOf(*digest);
  if (bytes > max_bytes_) return;
  entries_.push_front({key, std::move(digest), bytes});
  by_key_.emplace(std::move(key), entries_.begin());
  bytes_ += bytes;
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

std::shared_ptr<const Digest> RunCache::Find(const run::RunConfig& config) {
  const auto found = by_key_.find(PlanKey(config));
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->digest;
}

}  // namespace vramscope::ui
