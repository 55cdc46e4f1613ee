// Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986).
#include "profiler/analysis/sequence_diff.h"

#include <algorithm>

namespace vramscope::analysis {
namespace {

// Where a path ends.
struct Reached {
  uint32_t a = 0, b = 0;
};

class Search {
 public:
  Search(std::span<const Token> a, std::span<const Token> b) : a_(a), b_(b) {}

  // Searches for a path from (0, 0) through a and b. Appends the path's matches to `out`, with
  // `base` added to each. Returns where the path ends: at the end of both sequences or, after
  // max_differences, at the furthest point.
  Reached Run(uint32_t max_differences, Match base, std::vector<Match>& out) {
    const auto n = static_cast<int64_t>(a_.size()), m = static_cast<int64_t>(b_.size());
    // rows_[d][i]: furthest x on diagonal k = 2i - d after d differences.
    for (int64_t d = 0; d <= max_differences; ++d) {
      rows_.emplace_back(static_cast<size_t>(d) + 1);
      for (int64_t i = 0; i <= d; ++i) {
        const int64_t k = 2 * i - d;
        int64_t x = d == 0 ? 0 : Start(d, i);
        int64_t y = x - k;
        if (x > n || y > m || x < 0 || y < 0) {  // outside of the grid; no path continues from it
          rows_[d][i] = kOutside;
          continue;
        }
        while (x < n && y < m && a_[x] == b_[y]) ++x, ++y;
        rows_[d][i] = static_cast<int32_t>(x);
        if (x == n && y == m) return Trace(d, i, base, out);
      }
    }
    const auto d = static_cast<int64_t>(max_differences);
    int64_t best = -1, best_i = 0;
    for (int64_t i = 0; i <= d; ++i) {
      const int64_t x = rows_[d][i];
      if (x != kOutside && 2 * x - (2 * i - d) > best) {
        best = 2 * x - (2 * i - d);
        best_i = i;
      }
    }
    return Trace(d, best_i, base, out);
  }

 private:
  static constexpr int32_t kOutside = -1;

  // Returns the furthest x at which the d-th difference can enter diagonal k = 2i - d. The
  // difference is a move down from diagonal k + 1 (an insertion, which keeps x), or right from
  // diagonal k - 1 (a deletion, which adds 1 to x).
  int64_t Start(int64_t d, int64_t i) const {
    const std::vector<int32_t>& above = rows_[d - 1];
    const int64_t down = i < d ? above[i] : kOutside;
    const int64_t right = i > 0 && above[i - 1] != kOutside ? above[i - 1] + 1 : kOutside;
    return std::max(down, right);
  }

  Reached Trace(int64_t d, int64_t i, Match base, std::vector<Match>& out) const {
    const int64_t end_x = rows_[d][i], end_y = end_x - (2 * i - d);
    const size_t first = out.size();
    while (true) {
      const int64_t k = 2 * i - d;
      const int64_t x = rows_[d][i];
      const int64_t start = d == 0 ? 0 : Start(d, i);
      for (int64_t s = x; s > start; --s) {
        out.push_back(
            {static_cast<uint32_t>(base.a + s - 1), static_cast<uint32_t>(base.b + s - 1 - k)});
      }
      if (d == 0) break;
      // As in Start(), takes the move down if both moves reach equally far.
      const int64_t down = i < d ? rows_[d - 1][i] : kOutside;
      if (down != start) --i;
      --d;
    }
    std::reverse(out.begin() + static_cast<ptrdiff_t>(first), out.end());
    return {static_cast<uint32_t>(end_x), static_cast<uint32_t>(end_y)};
  }

  std::span<const Token> a_, b_;
  std::vector<std::vector<int32_t>> rows_;
};

}  // namespace

std::vector<Match> AlignSequences(std::span<const Token> a, std::span<const Token> b,
                                  uint32_t max_differences) {
  std::vector<Match> out;
  uint32_t x = 0, y = 0;
  size_t end_a = a.size(), end_b = b.size();
  while (x < end_a && y < end_b && a[x] == b[y]) out.push_back({x++, y++});
  while (end_a > x && end_b > y && a[end_a - 1] == b[end_b - 1]) --end_a, --end_b;
  while (x < end_a && y < end_b) {
    const Reached r = Search(a.subspan(x, end_a - x), b.subspan(y, end_b - y))
                          .Run(std::max(1u, max_differences), {x, y}, out);
    x += r.a;
    y += r.b;
  }
  for (size_t i = 0; end_a + i < a.size(); ++i) {
    out.push_back({static_cast<uint32_t>(end_a + i), static_cast<uint32_t>(end_b + i)});
  }
  return out;
}

uint32_t DifferenceBound(size_t length_a, size_t length_b) {
  constexpr size_t kSteps = 1'000'000'000;
  return static_cast<uint32_t>(
      std::clamp<size_t>(kSteps / std::max<size_t>(1, length_a + length_b), 64, 4096));
}

}  // namespace vramscope::analysis
