// Parses one line of the text files that a watched program's hooks write, from the front:
// ["M",0,-1,"a\\"b"]. Every function returns whether it succeeded.
//
//   TextLine line(text);
//   if (!line.Take("[") || !line.Kind(kind) || !line.Take(",") || !line.Number(n)) return false;
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace vramscope::program {

class TextLine {
 public:
  explicit TextLine(std::string_view rest) : rest_(rest) {}

  bool Take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  bool Kind(char& kind) {
    if (rest_.size() < 3 || rest_[0] != '"' || rest_[2] != '"') return false;
    kind = rest_[1];
    rest_.remove_prefix(3);
    return true;
  }
  // Parses a whole number, at least -1; -1 becomes the largest uint64_t.
  bool Number(uint64_t& number) {
    if (Take("-1")) {
      number = UINT64_MAX;
      return true;
    }
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool Text(std::string& text) {
    if (!Take("\"")) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\') rest_.remove_prefix(1);
      if (rest_.empty() || text.size() == kLongest) return false;
      text.push_back(rest_[0]);
      rest_.remove_prefix(1);
    }
    return Take("\"");
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  static constexpr size_t kLongest = 16'384;  // bytes, with escapes

  std::string_view rest_;
};

}  // namespace vramscope::program
