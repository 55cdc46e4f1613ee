#include "profiler/run/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vramscope::run {

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 200;
  using nlohmann::json;
  std::string out = json(text.substr(0, kMost)).dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMost) out.insert(out.size() - 1, "...");
  for (char& c : out) {
    if (c == '\x7f') c = '?';
  }
  return out;
}

std::string Printable(std::string_view text, size_t most) {
  std::string out(text.substr(0, most));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > most) out += "...";
  return out;
}

std::string ValidUtf8(std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (ascii) return std::string(text);
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string_view WithoutTag(std::string_view what) {
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

}  // namespace vramscope::run
