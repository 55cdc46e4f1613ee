// Some parameters of an optimizer may have no gradient, because no backward pass reached them. The
// hooks in a watched program record the number of such parameters as a marker. The marker's event
// has the parameters' bytes. If a trace has several such markers, only the last is valid.
//
//   MissingGradientsMarker(144, 146)  // "144 of 146 trainable parameters have no gradient"
//   ParseMissingGradients(name, without, of)
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::trace {

inline constexpr std::string_view kMissingGradientsEnd = " trainable parameters have no gradient";

inline std::string MissingGradientsMarker(uint64_t without, uint64_t of) {
  return std::to_string(without)
      .append(" of ")
      .append(std::to_string(of))
      .append(kMissingGradientsEnd);
}

// Reads the two numbers from a marker. Returns false for a marker of another kind.
inline bool ParseMissingGradients(std::string_view name, uint64_t& without, uint64_t& of) {
  constexpr std::string_view kOf = " of ";
  if (!name.ends_with(kMissingGradientsEnd)) return false;
  name.remove_suffix(kMissingGradientsEnd.size());
  const size_t between = name.find(kOf);
  if (between == std::string_view::npos) return false;
  const auto number = [](std::string_view text, uint64_t& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc() && end == text.data() + text.size();
  };
  return number(name.substr(0, between), without) && number(name.substr(between + kOf.size()), of);
}

}  // namespace vramscope::trace
