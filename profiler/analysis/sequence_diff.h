// Alignment of two sequences of tokens. Internal to this folder.
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

// Pairs of equal tokens, ascending in both. The result is a longest common subsequence if there are
// at most `max_differences` insertions and deletions between the common prefix and suffix.
// Otherwise, the search keeps the alignment that reached furthest and restarts after it.
std::vector<Match> AlignSequences(std::span<const Token> a, std::span<const Token> b,
                                  uint32_t max_differences);

// The `max_differences` with which AlignSequences takes at most about 10^9 steps.
uint32_t DifferenceBound(size_t length_a, size_t length_b);

}  // namespace vramscope::analysis
