#include "profiler/trace/assumptions.h"

#include <charconv>
#include <string_view>

namespace vramscope::trace {
namespace {

constexpr std::string_view kPrefix = "assumption\n";

// Up to the next line's end, which is dropped.
std::string_view Line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

std::string OneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

}  // namespace

std::string AssumptionMarker(const Assumption& a) {
  return std::string(kPrefix) + OneLine(a.what) + "\n" + OneLine(a.where) + "\n" +
         std::to_string(a.bytes);
}

std::vector<Assumption> AssumptionsOf(const Trace& trace) {
  std::vector<Assumption> out;
  for (const Marker& marker : trace.markers) {
    std::string_view rest = trace.String(marker.name);
    if (!rest.starts_with(kPrefix)) continue;
    rest.remove_prefix(kPrefix.size());
    Assumption a;
    a.what = Line(rest);
    a.where = Line(rest);
    std::from_chars(rest.data(), rest.data() + rest.size(), a.bytes);
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace vramscope::trace
