// The values of techniques' settings: texts, found by key.
//
//   SettingValues s;
//   s.Set("attention", "flash");
//   s.Find("attention");   // -> "flash"
//
// A value type; thread-safe.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramscope::run {

class SettingValues {
 public:
  using Entry = std::pair<std::string, std::string>;
  SettingValues() = default;
  SettingValues(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) Set(entry.first, entry.second);
  }

  // Null: not set.
  const std::string* Find(std::string_view key) const;
  void Set(std::string_view key, std::string_view value);
  void Erase(std::string_view key);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }  // in order of the keys
  auto end() const { return entries_.end(); }
  bool operator==(const SettingValues&) const = default;

 private:
  std::vector<Entry> entries_;  // sorted
};

}  // namespace vramscope::run
