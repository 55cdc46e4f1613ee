// Aligns two sequences of tokens. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::analysis {

struct Token {
  uint64_t value = 0;
  uint32_t kind = 0;
  friend bool operator==(const Token&, const Token&) = default;
};

struct Match {
  uint32_t a = 0, b = 0;
};

// Returns pairs of equal tokens, in the order of both sequences. They are a longest common
// subsequence if at most `max_differences` insertions and deletions are between the common prefix
// and suffix. Otherwise, the search keeps the furthest alignment, and restarts where it ends.
std::vector<Match> AlignSequences(std::span<const Token> a, std::span<const Token> b,
                                  uint32_t max_differences);

// Returns a `max_differences` for which AlignSequences takes at most about 10^9 steps.
uint32_t DifferenceBound(size_t length_a, size_t length_b);

}  // namespace vramscope::analysis
