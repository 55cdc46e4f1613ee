// Removes blanks around a text that a person has typed or that another program has printed.
#pragma once

#include <cstddef>
#include <string_view>

namespace vramscope::base {

// Returns the text without the spaces, tabs and line breaks at both ends.
constexpr std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace vramscope::base
