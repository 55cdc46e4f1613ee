// Strings that inference adds to the file's strings. Their ids follow the file's last id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/types.h"

namespace vramscope::inference {

class Names {
 public:
  explicit Names(uint32_t first) : first_(first) {}
  trace::StringId Intern(std::string_view text) {
    if (text.empty()) return {};
    const auto [it, added] = ids_.try_emplace(std::string(text), first_ + strings_.size());
    if (added) strings_.emplace_back(text);
    return {it->second};
  }
  std::vector<std::string> Take() { return std::move(strings_); }

 private:
  const uint32_t first_;
  base::HashMap<std::string, uint32_t> ids_;
  std::vector<std::string> strings_;
};

}  // namespace vramscope::inference
