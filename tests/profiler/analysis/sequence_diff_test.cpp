#include "profiler/analysis/sequence_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vramscope::analysis {
namespace {

std::vector<Token> Tokens(std::string_view text) {
  std::vector<Token> out;
  for (char c : text) out.push_back({static_cast<uint64_t>(c), 0});
  return out;
}

// Computes the length of a longest common subsequence by dynamic programming.
size_t Lcs(const std::vector<Token>& a, const std::vector<Token>& b) {
  std::vector<size_t> row(b.size() + 1);
  for (const Token& t : a) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = t == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

void CheckMatches(const std::vector<Token>& a, const std::vector<Token>& b,
                  const std::vector<Match>& matches) {
  for (size_t i = 0; i < matches.size(); ++i) {
    ASSERT_LT(matches[i].a, a.size());
    ASSERT_LT(matches[i].b, b.size());
    ASSERT_EQ(a[matches[i].a], b[matches[i].b]);
    if (i == 0) continue;
    ASSERT_GT(matches[i].a, matches[i - 1].a);
    ASSERT_GT(matches[i].b, matches[i - 1].b);
  }
}

TEST(SequenceDiff, AlignsKnownSequences) {
  const auto length = [](std::string_view a, std::string_view b) {
    return AlignSequences(Tokens(a), Tokens(b), 100).size();
  };
  EXPECT_EQ(length("", ""), 0u);
  EXPECT_EQ(length("abc", ""), 0u);
  EXPECT_EQ(length("", "abc"), 0u);
  EXPECT_EQ(length("abc", "abc"), 3u);
  EXPECT_EQ(length("abcabba", "cbabac"), 4u);
  EXPECT_EQ(length("abc", "xyz"), 0u);
  EXPECT_EQ(length("xaxcxabc", "abcy"), 3u);
}

TEST(SequenceDiff, FindsLongestCommonSubsequenceWithinTheBound) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Token> a, b;
    const uint32_t alphabet = 1 + random() % 5;
    for (uint32_t n = random() % 30; n > 0; --n) a.push_back({random() % alphabet, 0});
    for (uint32_t n = random() % 30; n > 0; --n) b.push_back({random() % alphabet, 0});
    const std::vector<Match> matches = AlignSequences(a, b, 1000);
    CheckMatches(a, b, matches);
    ASSERT_EQ(matches.size(), Lcs(a, b));
    // If the bound is low, the alignment may be shorter, but must be valid.
    const std::vector<Match> bounded = AlignSequences(a, b, 1 + random() % 4);
    CheckMatches(a, b, bounded);
    ASSERT_LE(bounded.size(), matches.size());
  }
}

TEST(SequenceDiff, ResynchronizesAfterManyDifferences) {
  // There are far more differences than the bound, but never many in a row.
  std::mt19937 random(4);
  std::vector<Token> a, b;
  for (int i = 0; i < 50'000; ++i) {
    const Token t{random() % 1000, 0};
    a.push_back(t);
    b.push_back(t);
    if (random() % 20 == 0) b.push_back({random() % 1000, 1});
  }
  const std::vector<Match> matches = AlignSequences(a, b, 64);
  CheckMatches(a, b, matches);
  EXPECT_GT(matches.size(), a.size() * 99 / 100);
}

TEST(SequenceDiff, TerminatesOnFullyDifferentSequences) {
  std::vector<Token> a, b;
  for (uint32_t i = 0; i < 200'000; ++i) {
    a.push_back({i, 0});
    b.push_back({i, 1});
  }
  EXPECT_TRUE(AlignSequences(a, b, DifferenceBound(a.size(), b.size())).empty());
}

}  // namespace
}  // namespace vramscope::analysis
