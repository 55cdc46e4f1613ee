// Compares packed columns with plain vectors of the same values, for all types of values and all
// queries.
#include "profiler/trace/packed_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "profiler/trace/types.h"

namespace vramscope::trace {
namespace {

template <class T>
void ExpectSame(const PackedColumn<T>& packed, const std::vector<T>& plain) {
  ASSERT_EQ(packed.size(), plain.size());
  ASSERT_EQ(packed.empty(), plain.empty());
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(packed[i], plain[i]) << i;
  ASSERT_TRUE(std::equal(packed.begin(), packed.end(), plain.begin(), plain.end()));
  if (plain.empty()) return;
  ASSERT_EQ(packed.front(), plain.front());
  ASSERT_EQ(packed.back(), plain.back());
}

// Returns runs of numbers like those in the tables of a trace: a base, plus random values of a
// given number of bits, multiplied by a power of two. In some runs, all values are equal. Others
// contain a few values from the whole range of the type.
template <class T>
std::vector<T> RandomValues(std::mt19937_64& random, size_t n) {
  std::vector<T> out;
  const auto draw = [&](uint64_t below) { return random() % below; };
  while (out.size() < n) {
    const int bits = static_cast<int>(draw(65)), shift = static_cast<int>(draw(20));
    const uint64_t base = draw(2) ? random() : draw(1000);
    const bool wild = draw(4) == 0;
    for (size_t left = 1 + draw(1500); left > 0 && out.size() < n; --left) {
      uint64_t v = bits == 0 ? 0 : random() >> (64 - bits);
      v = base + (v << shift);
      if (wild && draw(300) == 0) v = random();
      if (wild && draw(300) == 0) v = static_cast<uint64_t>(std::numeric_limits<T>::min());
      if (wild && draw(300) == 0) v = static_cast<uint64_t>(std::numeric_limits<T>::max());
      out.push_back(static_cast<T>(v));
    }
  }
  return out;
}

template <class T>
class PackedColumnOf : public testing::Test {};
using Numbers = testing::Types<uint8_t, uint32_t, int32_t, uint64_t, int64_t>;
TYPED_TEST_SUITE(PackedColumnOf, Numbers);

TYPED_TEST(PackedColumnOf, EqualsPlainVector) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::vector<TypeParam> plain = RandomValues<TypeParam>(random, random() % 6000);
    PackedColumn<TypeParam> one_by_one, in_pieces;
    for (const TypeParam v : plain) one_by_one.push_back(v);
    for (size_t at = 0; at < plain.size();) {
      const size_t n = std::min<size_t>(plain.size() - at, 1 + random() % 1300);
      in_pieces.Append(std::span(plain).subspan(at, n));
      at += n;
    }
    ExpectSame(one_by_one, plain);
    EXPECT_TRUE(in_pieces == one_by_one);
    EXPECT_TRUE(PackedColumn<TypeParam>(plain.begin(), plain.end()) == one_by_one);
    EXPECT_LE(one_by_one.MemoryBytes(), 2 * plain.size() * sizeof(TypeParam) + 16384);
  }
}

TYPED_TEST(PackedColumnOf, SupportsBinarySearch) {
  std::mt19937_64 random(8);
  std::vector<TypeParam> plain = RandomValues<TypeParam>(random, 5000);
  std::sort(plain.begin(), plain.end());
  const PackedColumn<TypeParam> packed(plain.begin(), plain.end());
  for (const TypeParam v : RandomValues<TypeParam>(random, 500)) {
    EXPECT_EQ(std::lower_bound(packed.begin(), packed.end(), v) - packed.begin(),
              std::lower_bound(plain.begin(), plain.end(), v) - plain.begin());
    EXPECT_EQ(std::ranges::upper_bound(packed, v) - packed.begin(),
              std::ranges::upper_bound(plain, v) - plain.begin());
  }
  EXPECT_EQ(*std::max_element(packed.begin(), packed.end()), plain.back());
  EXPECT_EQ(*(packed.end() - 3), plain[plain.size() - 3]);
}

// A copy, such as a snapshot of a run in progress, must not change while the column grows.
TEST(PackedColumn, CopyIsIndependent) {
  std::vector<int64_t> plain;
  PackedColumn<int64_t> column;
  std::vector<std::pair<size_t, PackedColumn<int64_t>>> copies;
  for (int64_t i = 0; i < 5000; ++i) {
    if (i % 333 == 0) copies.emplace_back(column.size(), column);
    plain.push_back(i * i - 1'000'000);
    column.push_back(plain.back());
  }
  for (const auto& [size, copy] : copies)
    ExpectSame(copy, {plain.begin(), plain.begin() + static_cast<ptrdiff_t>(size)});
  PackedColumn<int64_t> grown = copies[3].second;
  grown.push_back(5);
  EXPECT_EQ(copies[3].second.size() + 1, grown.size());
  EXPECT_EQ(grown.back(), 5);
}

// To update a snapshot, its changed last rows are removed and all rows that it lacks are added.
TYPED_TEST(PackedColumnOf, ShrinksAndGrowsBack) {
  std::mt19937_64 random(9);
  const std::vector<TypeParam> plain = RandomValues<TypeParam>(random, 5000);
  const PackedColumn<TypeParam> whole(plain.begin(), plain.end());
  for (const size_t rows : {0u, 1u, 511u, 512u, 513u, 1024u, 4607u, 4608u, 4609u, 5000u}) {
    PackedColumn<TypeParam> part = whole;
    part.resize(rows);
    ExpectSame(part, {plain.begin(), plain.begin() + static_cast<ptrdiff_t>(rows)});
    PackedColumn<TypeParam> again = part;
    again.GrowTo(whole);
    ExpectSame(again, plain);
    for (size_t i = rows; i < plain.size(); ++i) part.push_back(plain[i]);
    ExpectSame(part, plain);
  }
}

TYPED_TEST(PackedColumnOf, ReadsRangesOfRows) {
  std::mt19937_64 random(10);
  for (const size_t rows : {0u, 5u, 512u, 3000u}) {
    const std::vector<TypeParam> plain = RandomValues<TypeParam>(random, rows);
    const PackedColumn<TypeParam> packed(plain.begin(), plain.end());
    for (int round = 0; round < 50; ++round) {
      const size_t first = random() % (rows + 1);
      std::vector<TypeParam> read(random() % (rows - first + 1));
      packed.Read(first, read);
      const auto from = plain.begin() + static_cast<ptrdiff_t>(first);
      EXPECT_TRUE(std::equal(read.begin(), read.end(), from)) << first << " " << read.size();
    }
  }
}

TYPED_TEST(PackedColumnOf, SettingRowsKeepsOtherRowsAndCopies) {
  std::mt19937_64 random(11);
  std::vector<TypeParam> plain = RandomValues<TypeParam>(random, 3000);
  PackedColumn<TypeParam> packed(plain.begin(), plain.end());
  const PackedColumn<TypeParam> before = packed;
  const std::vector<TypeParam> was = plain;
  const std::vector<TypeParam> values = RandomValues<TypeParam>(random, 200);
  for (const TypeParam v : values) {
    const size_t at = random() % plain.size();
    packed.Set(at, v);
    plain[at] = v;
  }
  ExpectSame(packed, plain);
  packed.Change([](TypeParam v) { return static_cast<TypeParam>(v / 2); });
  for (TypeParam& v : plain) v = static_cast<TypeParam>(v / 2);
  ExpectSame(packed, plain);
  ExpectSame(before, was);
}

TEST(PackedColumn, RecognizesItsEarlierVersions) {
  PackedColumn<uint32_t> column, other;
  std::vector<PackedColumn<uint32_t>> before;
  for (uint32_t i = 0; i < 3000; ++i) {
    if (i % 700 == 0) before.push_back(column);
    column.push_back(i * i);
    other.push_back(i * i);
  }
  for (const PackedColumn<uint32_t>& b : before) EXPECT_TRUE(column.SharesBegin(b));
  EXPECT_FALSE(before[3].SharesBegin(column));
  EXPECT_FALSE(column.SharesBegin(other)) << "equal values that are not shared";
  PackedColumn<uint32_t> changed = column;
  changed.Set(5, 1);
  EXPECT_FALSE(changed.SharesBegin(column));
}

TEST(PackedColumn, AllAlikeDetectsADifferentRow) {
  EXPECT_TRUE(PackedColumn<uint8_t>().AllAlike());
  for (const size_t rows : {1u, 511u, 512u, 513u, 2000u}) {
    PackedColumn<uint8_t> column;
    column.resize(rows);
    EXPECT_TRUE(column.AllAlike());
    for (const size_t at : {size_t{0}, rows / 2, rows - 1}) {
      PackedColumn<uint8_t> other = column;
      other.Set(at, 1);
      EXPECT_EQ(other.AllAlike(), rows == 1) << at << " of " << rows;
    }
    column.Change([](uint8_t) { return 7; });
    EXPECT_TRUE(column.AllAlike());
    for (size_t more = 0; more < 600; ++more) column.push_back(7);
    EXPECT_TRUE(column.AllAlike());
    for (size_t more = 0; more < 600; ++more) column.push_back(8);
    EXPECT_FALSE(column.AllAlike());
  }
}

TEST(PackedColumn, StoresIdsAndEnumerations) {
  PackedColumn<StringId> names;
  PackedColumn<Category> categories;
  for (uint32_t i = 0; i < 2000; ++i) {
    names.push_back({i * 77 % 1000});
    categories.push_back(static_cast<Category>(i % kCategoryCount));
  }
  for (uint32_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(names[i].value, i * 77 % 1000);
    ASSERT_EQ(categories[i], static_cast<Category>(i % kCategoryCount));
  }
  names.resize(2500);
  EXPECT_EQ(names.size(), 2500u);
  EXPECT_EQ(names[2400].value, 0u);
}

// For columns of a training run, packing must save the expected memory.
TEST(PackedColumn, PacksSimilarValuesTightly) {
  PackedColumn<int64_t> times;
  PackedColumn<uint64_t> sizes, same;
  constexpr size_t kRows = 100'000;
  for (size_t i = 0; i < kRows; ++i) {
    times.push_back(static_cast<int64_t>(1'700'000'000'000'000'000 + i * 1000 + i % 7));
    sizes.push_back((i % 13) * 512 << (i % 4));
    same.push_back(42);
  }
  EXPECT_LT(times.MemoryBytes(), kRows * 3);
  EXPECT_LT(sizes.MemoryBytes(), kRows * 2);
  EXPECT_LT(same.MemoryBytes(), kRows / 4);
}

}  // namespace
}  // namespace vramscope::trace
