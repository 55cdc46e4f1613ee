// Uses an allocator that looks like PyTorch's to the hook: it has a table of virtual functions and
// reports an entry for each event.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "profiler/program/history_tail.h"
#include "tests/cupti/counted_calls.h"

extern "C" {
int vramscope_history_attach(void** allocator, void* const* table, void* function);
int vramscope_history_begin(const char* path, int keep);
uint64_t vramscope_history_rows();
int vramscope_history_stream(int number, uint64_t* handle);
uint64_t vramscope_history_requests(int device);
void vramscope_history_end();
}

namespace vramscope::program {
namespace {

struct Context {
  virtual ~Context() = default;
};
// PyTorch's TraceEntry.
struct Entry {
  int action = 0;
  int8_t device = 0;
  size_t address = 0;
  std::shared_ptr<Context> context;
  void* stream = nullptr;
  size_t size = 0;
  std::string user_metadata = "more of later versions";
};

struct Allocator {
  virtual ~Allocator() = default;
  virtual void Other() {}
  virtual void Attach(std::function<void(const Entry&)> tracker) = 0;
};
struct Native : Allocator {
  void Attach(std::function<void(const Entry&)> tracker) override { all.push_back(tracker); }
  void Notify(int action, size_t address, size_t size, int8_t device = 0) const {
    for (const auto& tracker : all)
      tracker({.action = action, .device = device, .address = address, .size = size});
  }
  std::vector<std::function<void(const Entry&)>> all;
};
// Stands for the allocator class that PyTorch exports. The hook finds the function Attach in its
// table.
struct Pluggable : Allocator {
  void Other() override {}
  void Attach(std::function<void(const Entry&)>) override {}
};

// Returns the table of virtual functions: offset, type, two destructors, Other, Attach.
void* const* TableOf(const Allocator& allocator) {
  void* const* functions = nullptr;
  std::memcpy(&functions, &allocator, sizeof functions);
  return functions - 2;
}

std::vector<HistoryTailRow> Rows(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  uint64_t rows = 0;
  std::memcpy(&rows, bytes.data() + 16, sizeof rows);
  std::vector<HistoryTailRow> all(rows);
  if (rows > 0)
    std::memcpy(static_cast<void*>(all.data()), bytes.data() + sizeof(HistoryTailHeader),
                rows * sizeof(HistoryTailRow));
  return all;
}

std::string NewFolder() {
  std::string folder =
      (std::filesystem::temp_directory_path() / "allocations-test-XXXXXX").string();
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

// Runs `act` in a separate process, and returns its result as the exit status.
template <class Act>
int InAProcess(Act act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The hook is called while the allocator's lock is held, so it must not take a lock or allocate
// memory.
TEST(Allocations, AreRecordedWithoutLocksOrAllocations) {
  const std::string folder = NewFolder();
  EXPECT_EQ(InAProcess([&] {
              Native native;
              const Pluggable other;
              void* allocator = &native;
              void* const* const table = TableOf(other);
              if (vramscope_history_attach(&allocator, table, table[5]) != 1) return 1;
              if (vramscope_history_begin((folder + "/0.tail").c_str(), 0) != 1) return 3;
              constexpr int kRows = 50'000;
              std::vector<Entry> entries(kRows);
              for (int i = 0; i < kRows; ++i) {
                entries[static_cast<size_t>(i)].address = static_cast<size_t>(i);
                entries[static_cast<size_t>(i)].stream =
                    reinterpret_cast<void*>(uintptr_t{64} * static_cast<uintptr_t>(i % 40));
              }
              vramscope::testing::counting = true;
              for (const Entry& entry : entries) native.all[0](entry);
              vramscope::testing::counting = false;
              if (vramscope_history_rows() != kRows) return 4;
              uint64_t handle = 0;
              if (vramscope_history_stream(39, &handle) != 0 || handle != 64 * 39) return 5;
              if (vramscope_history_stream(40, &handle) != -1) return 6;
              return vramscope::testing::locks != 0          ? 7
                     : vramscope::testing::allocations != 0  ? 8
                     : vramscope::testing::reservations != 0 ? 9
                                                             : 0;
            }),
            0);
  const std::vector<HistoryTailRow> rows = Rows(folder + "/0.tail");
  ASSERT_EQ(rows.size(), 50'000u);
  for (uint32_t i = 0; i < 50'000; ++i) ASSERT_EQ(rows[i].address, i);
  std::filesystem::remove_all(folder);
}

// Several devices, each with its own lock, allocate while new files replace old ones. Each entry
// must be in one of the files, and the entries of a device in order.
TEST(Allocations, OfSeveralThreadsAreCompleteAcrossFiles) {
  const std::string folder = NewFolder();
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 60'000;
  constexpr int kFiles = 30;
  EXPECT_EQ(InAProcess([&] {
              Native native;
              const Pluggable other;
              void* allocator = &native;
              void* const* const table = TableOf(other);
              if (vramscope_history_attach(&allocator, table, table[5]) != 1) return 1;
              const auto begin = [&](int file) {
                return vramscope_history_begin(
                           (folder + "/" + std::to_string(file) + ".tail").c_str(), 1) == 1;
              };
              if (!begin(0)) return 3;
              std::atomic<int> left = kThreads;
              std::vector<std::thread> threads;
              for (int device = 0; device < kThreads; ++device)
                threads.emplace_back([&, device] {
                  for (uint64_t i = 0; i < kEach; ++i) {
                    Entry entry{.device = static_cast<int8_t>(device), .address = i, .size = i};
                    native.all[0](entry);
                  }
                  --left;
                });
              int file = 1;
              for (; file < kFiles && left > 0; ++file) {
                std::this_thread::yield();
                if (!begin(file)) return 4;
              }
              for (std::thread& thread : threads) thread.join();
              return begin(file) ? 0 : 5;
            }),
            0);
  uint64_t next[kThreads] = {}, files = 0;
  for (int file = 0;; ++file) {
    const std::string path = folder + "/" + std::to_string(file) + ".rows";
    if (!std::filesystem::exists(path)) break;
    ++files;
    for (const HistoryTailRow& row : Rows(path)) {
      ASSERT_LT(row.device, kThreads);
      ASSERT_EQ(row.address, next[row.device]++);
      ASSERT_EQ(row.bytes, row.address);
    }
  }
  for (const uint64_t rows : next) EXPECT_EQ(rows, kEach);
  EXPECT_GE(files, 2u);
  std::filesystem::remove_all(folder);
}

// Runs in a separate process, because the recorder can be attached only once in a process. The file
// is read after the process was killed.
TEST(Allocations, SurviveKillOfTheProcess) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "allocations-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string first = folder + "/0.tail", second = folder + "/1.tail";
  constexpr size_t kMany = 100'000;  // more than the file reserves at once
  const pid_t child = fork();
  if (child == 0) {
    Native native;
    const Pluggable other;
    void* allocator = &native;
    void* const* const table = TableOf(other);
    int odd = 0;
    std::array<void*, 128> room = {};
    std::copy_n(table, 6, room.begin());
    // `odd` is not a function of the allocator.
    odd |= vramscope_history_attach(&allocator, room.data(), &odd) != 0;
    // The table of std::exception is known to the loader, but contains only two destructors and
    // what(), not the function Attach.
    auto* const known = static_cast<void* const*>(dlsym(RTLD_DEFAULT, "_ZTVSt9exception"));
    odd |= known == nullptr || vramscope_history_attach(&allocator, known, known[5]) != 0;
    odd |= vramscope_history_attach(&allocator, table, table[5]) != 1;
    native.Notify(0, 1, 512);  // no file yet: only counted
    odd |= vramscope_history_begin(first.c_str(), 0) != 1;
    native.Notify(0, 0x1000, 100, 1);
    native.Notify(7, 0, 0);  // a snapshot, which is not recorded
    native.Notify(1, 0x1000, 100, 1);
    native.Notify(2, 0x1000, 100, 1);
    odd |= vramscope_history_begin(second.c_str(), 1) != 1;
    for (size_t i = 0; i < kMany; ++i) native.Notify(0, i, i + 1);
    odd |= vramscope_history_requests(0) != kMany + 1 || vramscope_history_requests(1) != 2;
    if (fork() == 0) {  // a forked child's entries must not be recorded
      native.Notify(0, 77, 77);
      _exit(0);
    }
    wait(nullptr);
    if (odd != 0) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(first));  // it became a chunk when the second file began
  const std::string chunk = folder + "/0.rows";
  EXPECT_EQ(std::filesystem::file_size(chunk),
            sizeof(HistoryTailHeader) + 3 * sizeof(HistoryTailRow));
  const std::vector<HistoryTailRow> rows = Rows(chunk);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].action, 0);
  EXPECT_EQ(rows[0].address, 0x1000u);
  EXPECT_EQ(rows[0].bytes, 100u);
  EXPECT_EQ(rows[0].device, 1);
  EXPECT_EQ(rows[2].action, 2);
  EXPECT_GE(rows[2].time_ns, rows[0].time_ns);
  const std::vector<HistoryTailRow> many = Rows(second);
  ASSERT_EQ(many.size(), kMany);
  EXPECT_EQ(many.back().bytes, kMany);
  std::filesystem::remove_all(folder);
}

TEST(Allocations, BeginFailsIfFileCannotBeCreated) {
  EXPECT_EQ(vramscope_history_begin("/nowhere/0.tail", 0), 0);
  vramscope_history_end();
}

}  // namespace
}  // namespace vramscope::program
