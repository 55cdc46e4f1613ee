#include "profiler/run/settings.h"

#include <algorithm>

namespace vramscope::run {
namespace {

bool Before(const SettingValues::Entry& entry, std::string_view key) { return entry.first < key; }

}  // namespace

const std::string* SettingValues::Find(std::string_view key) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, Before);
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

void SettingValues::Set(std::string_view key, std::string_view value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, Before);
  if (at != entries_.end() && at->first == key) {
    at->second = value;
  } else {
    entries_.emplace(at, key, value);
  }
}

void SettingValues::Erase(std::string_view key) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, Before);
  if (at != entries_.end() && at->first == key) entries_.erase(at);
}

}  // namespace vramscope::run
