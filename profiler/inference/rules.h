// The rules of inference: what they are called and what each concludes from. Numbers are stored in
// traces (trace::Event::detail): add at the end, never renumber. README.md has the table.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::inference {

inline constexpr uint8_t kSaid = 0;  // no rule: the producer said it

// "lifetime: born in forward, freed in backward"; "" for kSaid; "rule 200" style for unknown ones
// is the caller's business ("" is returned).
std::string_view RuleName(uint8_t rule);

}  // namespace vramscope::inference
