// Compares shared columns with plain vectors of the same values, and copies of the columns with the
// contents that they had when the copies were made.
#include "profiler/trace/shared_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace vramscope::trace {
namespace {

using Column = SharedColumn<uint32_t>;
using Plain = std::vector<uint32_t>;

void ExpectSame(const Column& column, const Plain& plain) {
  ASSERT_EQ(column.size(), plain.size());
  ASSERT_EQ(column.empty(), plain.empty());
  ASSERT_TRUE(std::equal(column.begin(), column.end(), plain.begin(), plain.end()));
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(column[i], plain[i]) << i;
  if (plain.empty()) return;
  ASSERT_EQ(column.front(), plain.front());
  ASSERT_EQ(column.back(), plain.back());
}

// Applies random operations to a column and a vector. Their copies must stay equal to each other.
TEST(SharedColumn, CopiesAreIndependent) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::pair<Column, Plain>> all(1);
    for (int step = 0; step < 400; ++step) {
      auto& [column, plain] = all[random() % all.size()];
      const auto value = static_cast<uint32_t>(random());
      switch (random() % 8) {
        case 0:
          all.emplace_back(column, plain);  // may move them
          break;
        case 1:
          if (all.size() > 6) all.erase(all.begin() + static_cast<ptrdiff_t>(random() % 6));
          break;
        case 2: {
          const size_t rows = random() % (plain.size() + 1);
          column.resize(rows);
          plain.resize(rows);
          break;
        }
        case 3:
          column.resize(plain.size() + 700);
          plain.resize(plain.size() + 700);
          break;
        case 4:
          column.Change([](uint32_t v) { return v ^ 5; });
          for (uint32_t& v : plain) v ^= 5;
          break;
        case 5:
          for (uint32_t i = 0; i < 900; ++i) {
            column.push_back(value + i);
            plain.push_back(value + i);
          }
          break;
        default:
          if (plain.empty()) break;
          const size_t at = random() % plain.size();
          column.Set(at, value);
          plain[at] = value;
      }
    }
    for (const auto& [column, plain] : all) ExpectSame(column, plain);
  }
}

TEST(SharedColumn, ReadsRangesOfRows) {
  std::mt19937_64 random(10);
  Plain plain(3000);
  for (uint32_t& v : plain) v = static_cast<uint32_t>(random());
  const Column column(plain.begin(), plain.end());
  ExpectSame(column, plain);
  for (int round = 0; round < 100; ++round) {
    const size_t first = random() % (plain.size() + 1);
    Plain read(random() % (plain.size() - first + 1));
    column.Read(first, read);
    EXPECT_TRUE(
        std::equal(read.begin(), read.end(), plain.begin() + static_cast<ptrdiff_t>(first)));
  }
}

// While a column grows, another thread reads and releases snapshots of it. If no snapshot uses a
// piece any more, the column overwrites it in place. Also run under ThreadSanitizer.
TEST(SharedColumn, AnotherThreadReadsConsistentCopies) {
  constexpr uint32_t kRounds = 2000;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Column> shown;
  bool done = false;
  std::atomic<uint32_t> wrong = 0, read = 0;
  std::thread reader([&] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return shown.has_value() || done; });
      if (!shown.has_value()) return;
      std::optional<Column> snapshot = std::exchange(shown, std::nullopt);
      lock.unlock();
      for (size_t i = 1; i < snapshot->size(); ++i) wrong += (*snapshot)[i] != snapshot->front();
      ++read;
      snapshot.reset();  // without the lock, so that only the column synchronizes with the writer
      lock.lock();
    }
  });
  Column column;
  column.resize(Column::kPiece + 100);
  for (uint32_t round = 1; round <= kRounds; ++round) {
    for (size_t i = 0; i < column.size(); ++i) column.Set(i, round);
    const std::lock_guard lock(mutex);
    shown = column;
    changed.notify_one();
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_one();
  reader.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(read, 0u);
  EXPECT_EQ(column.front(), kRounds);
}

// A column must allocate memory in whole pieces, and none if it is empty.
TEST(SharedColumn, AllocatesWholePieces) {
  EXPECT_EQ(Column().MemoryBytes(), 0u);
  Column column;
  column.push_back(1);
  EXPECT_GE(column.MemoryBytes(), Column::kPiece * sizeof(uint32_t));
  EXPECT_LT(column.MemoryBytes(), Column::kPiece * sizeof(uint32_t) + 256);
  column.clear();
  EXPECT_EQ(column.MemoryBytes(), 0u);
}

}  // namespace
}  // namespace vramscope::trace
