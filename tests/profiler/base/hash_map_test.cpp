// Compares HashMap and HashSet with standard containers. If an allocation fails during a call,
// their contents must be the same as before the call.
#include "profiler/base/hash_map.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <set>
#include <vector>

namespace {

int64_t until_failure = -1;  // number of allocations before the failing one; < 0: none fails

void* Allocate(std::size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  if (void* at = std::malloc(size == 0 ? 1 : size)) return at;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace vramscope::base {
namespace {

// Returns a text that contains the number and is too long to be stored without allocating.
std::string Text(uint64_t number) {
  return "a text that is longer than what a string holds in itself, " + std::to_string(number);
}
// Returns a key or value of type T that is made from the number.
template <class T>
T Make(uint64_t number) {
  if constexpr (std::is_same_v<T, std::string>)
    return Text(number);
  else if constexpr (std::is_same_v<T, std::vector<uint32_t>>)
    return std::vector<uint32_t>(1 + number % 7, static_cast<uint32_t>(number));
  else if constexpr (std::is_same_v<T, std::pair<uint64_t, std::string>>)
    return {number, Text(number)};
  else
    return static_cast<T>(number);
}

template <class K, class V>
void ExpectSame(const HashMap<K, V>& table, const std::map<K, V>& model) {
  ASSERT_EQ(table.size(), model.size());
  std::map<K, V> seen;
  for (const auto& [key, value] : table) ASSERT_TRUE(seen.emplace(key, value).second);
  ASSERT_EQ(seen, model);
  for (const auto& [key, value] : model) ASSERT_EQ(table.at(key), value);
}
template <class K>
void ExpectSame(const HashSet<K>& table, const std::set<K>& model) {
  ASSERT_EQ(table.size(), model.size());
  ASSERT_EQ((std::set<K>(table.begin(), table.end())), model);
  for (const K& key : model) ASSERT_TRUE(table.contains(key));
}

// Repeats the call until it succeeds. The first allocation fails in the first call, the second
// allocation in the second call, and so on. Returns the number of failed calls.
template <class Table, class Model, class Act>
int64_t WithEveryFailure(const Table& table, const Model& before, Act act) {
  for (int64_t n = 0;; ++n) {
    until_failure = n;
    try {
      act();
      until_failure = -1;
      return n;
    } catch (const std::bad_alloc&) {
      until_failure = -1;
    }
    ExpectSame(table, before);
    if (::testing::Test::HasFatalFailure()) return n;
  }
}

template <class K, class V>
void SweepMap(uint32_t seed, uint64_t keys) {
  std::mt19937 random(seed);
  HashMap<K, V> table;
  std::map<K, V> model;
  int64_t failures = 0;
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(round));
    const K key = Make<K>(random() % keys);
    const V value = Make<V>(random());
    const std::map<K, V> before = model;
    const auto sweep = [&](auto act) { failures += WithEveryFailure(table, before, act); };
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
        sweep([&] { table.try_emplace(key, value); });
        model.try_emplace(key, value);
        break;
      case 3:
      case 4:
        sweep([&] { table.insert({key, value}); });
        model.insert({key, value});
        break;
      case 5:
        sweep([&] { table[key]; });
        model[key];
        break;
      case 6:
      case 7:
      case 8:
        ASSERT_EQ(table.erase(key), model.erase(key));
        break;
      case 9:
        sweep([&] { table.reserve(random() % (2 * keys)); });
        break;
      case 10:
        sweep([&] {
          HashMap<K, V> copy = table;
          ExpectSame(copy, before);
          copy.erase(key);
          table = table;
          HashMap<K, V> taken = std::move(copy);
          copy = std::move(taken);
        });
        break;
      case 11:
        if (round % 5 == 0) {
          table.clear();
          model.clear();
        } else {
          const auto chosen = [](const auto& entry) {
            return HashMap<K, V>({entry}).size() + absl::Hash<K>()(entry.first) % 8 == 1;
          };
          ASSERT_EQ(erase_if(table, chosen), std::erase_if(model, chosen));
        }
        break;
    }
    ExpectSame(table, model);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(failures, 10);
}

TEST(HashMapTest, KeepsContentsWhenAnyAllocationFails) {
  for (const uint64_t keys : {3, 17, 200})
    for (uint32_t seed = 1; seed <= 5; ++seed) {
      SweepMap<uint64_t, uint64_t>(seed, keys);
      SweepMap<std::string, std::vector<uint32_t>>(seed, keys);
      SweepMap<std::pair<uint64_t, std::string>, uint32_t>(seed, keys);
      if (HasFatalFailure()) return;
    }
}

TEST(HashSetTest, KeepsContentsWhenAnyAllocationFails) {
  std::mt19937 random(7);
  HashSet<std::string> table;
  std::set<std::string> model;
  int64_t failures = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string key = Text(random() % 300);
    const std::set<std::string> before = model;
    if (random() % 3 == 0) {
      ASSERT_EQ(table.erase(key), model.erase(key));
    } else {
      failures += WithEveryFailure(table, before, [&] { table.insert(key); });
      model.insert(key);
    }
    ExpectSame(table, model);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(failures, 500);
}

// Inserts and erases addresses while the number of entries stays the same. The table must reuse the
// slots of erased entries.
TEST(HashMapTest, ReusesSlotsOfErasedEntries) {
  HashMap<uint64_t, uint64_t> table;
  for (uint64_t i = 0; i < 100'000; ++i) {
    table[i * 512] = i;
    if (i >= 1000) {
      ASSERT_EQ(table.erase((i - 1000) * 512), 1u);
    }
  }
  EXPECT_EQ(table.size(), 1000u);
  EXPECT_LE(table.capacity(), 2048u);
  for (uint64_t i = 99'000; i < 100'000; ++i) ASSERT_EQ(table.at(i * 512), i);
}

// Gives all keys the same hash.
struct ConstantHash {
  size_t operator()(uint64_t) const { return 42; }
};
TEST(HashMapTest, FindsKeysWithEqualHashes) {
  HashMap<uint64_t, uint64_t, ConstantHash> table;
  for (uint64_t i = 0; i < 500; ++i) table[i] = i;
  for (uint64_t i = 0; i < 500; i += 2) table.erase(i);
  for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(table.contains(i), i % 2 == 1) << i;
  for (uint64_t i = 0; i < 500; ++i) table[i] = i + 1;
  ASSERT_EQ(table.size(), 500u);
  for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(table.at(i), i + 1);
}

// The inserted value may be an element of the same table, which may grow during the call.
TEST(HashMapTest, InsertsValuesStoredInTheTableItself) {
  HashMap<uint64_t, std::string> table;
  table[0] = Text(0);
  for (uint64_t i = 1; i < 1000; ++i) table.try_emplace(i, table.at(i - 1));
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(table.at(i), Text(0)) << i;
}

TEST(HashMapTest, FindsStringViewsWithoutAllocating) {
  HashMap<std::string, int> table = {{"a", 1}, {Text(1), 2}};
  const std::string_view text = "a";
  const std::string longer = Text(1);
  until_failure = 0;
  const bool found = table.contains(text) && table.find(std::string_view(longer)) != table.end() &&
                     table.try_emplace(text, 3).second == false && table["a"] == 1;
  until_failure = -1;
  EXPECT_TRUE(found);
  EXPECT_EQ(table.count("b"), 0u);
}

// Hashes row numbers by the texts that they refer to. Importers have sets with such hashes.
struct ByText {
  using is_transparent = void;
  const std::vector<std::string>* texts;
  size_t operator()(uint32_t row) const { return (*this)(std::string_view((*texts)[row])); }
  size_t operator()(std::string_view text) const { return absl::Hash<std::string_view>()(text); }
  bool operator()(uint32_t a, uint32_t b) const { return a == b; }
  bool operator()(uint32_t a, std::string_view b) const { return (*texts)[a] == b; }
};
TEST(HashSetTest, UsesAHashWithState) {
  std::vector<std::string> texts;
  HashSet<uint32_t, ByText, ByText> rows(0, ByText{&texts}, ByText{&texts});
  for (uint32_t i = 0; i < 300; ++i) {
    texts.push_back(Text(i));
    ASSERT_EQ(rows.find(std::string_view(texts.back())), rows.end());
    rows.insert(i);
  }
  const HashSet<uint32_t, ByText, ByText> copy = rows;
  for (uint32_t i = 0; i < 300; ++i) ASSERT_EQ(*copy.find(std::string_view(texts[i])), i);
}

TEST(HashMapTest, ComparesByContent) {
  HashMap<uint64_t, uint64_t> a, b(1000);
  for (uint64_t i = 0; i < 50; ++i) a[i] = b[49 - i] = 7;
  EXPECT_EQ(a, b);
  b[3] = 8;
  EXPECT_NE(a, b);
}

TEST(HashMapTest, ThrowsOnHugeReserveAndMissingKey) {
  HashMap<uint64_t, uint64_t> table = {{1, 2}};
  EXPECT_THROW(table.reserve(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(table.at(1), 2u);
  EXPECT_THROW(table.at(2), std::out_of_range);
}

}  // namespace
}  // namespace vramscope::base
