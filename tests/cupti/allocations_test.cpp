// An allocator as PyTorch's looks from outside: a table of virtual functions, and an entry for
// every request.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "profiler/program/history_tail.h"

extern "C" {
int vramscope_history_attach(void** allocator, void* const* table, void* function);
int vramscope_history_begin(const char* path, int keep);
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
  void Tell(int action, size_t address, size_t size, int8_t device = 0) const {
    for (const auto& tracker : all)
      tracker({.action = action, .device = device, .address = address, .size = size});
  }
  std::vector<std::function<void(const Entry&)>> all;
};
// The exported one, whose table tells the place.
struct Pluggable : Allocator {
  void Other() override {}
  void Attach(std::function<void(const Entry&)>) override {}
};

// Behind the offset and the type: two destructors, Other, Attach.
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
  std::memcpy(static_cast<void*>(all.data()), bytes.data() + sizeof(HistoryTailHeader),
              rows * sizeof(HistoryTailRow));
  return all;
}

// In a process of its own, since an allocator is attached to once: what it notes is read when it
// has been killed.
TEST(Allocations, AreInTheFileWhenTheProcessIsKilled) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "allocations-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string first = folder + "/0.tail", second = folder + "/1.tail";
  constexpr size_t kMany = 100'000;  // more than is reserved at once
  const pid_t child = fork();
  if (child == 0) {
    Native native;
    const Pluggable other;
    void* allocator = &native;
    void* const* const table = TableOf(other);
    int odd = 0;
    std::array<void*, 128> room = {};
    std::copy_n(table, 6, room.begin());
    odd |= vramscope_history_attach(&allocator, room.data(), &odd) != 0;  // no function of it
    // What lies behind a table that the loader knows is none of its functions: std::exception's has
    // two destructors and what().
    auto* const known = static_cast<void* const*>(dlsym(RTLD_DEFAULT, "_ZTVSt9exception"));
    odd |= known == nullptr || vramscope_history_attach(&allocator, known, known[5]) != 0;
    odd |= vramscope_history_attach(&allocator, table, table[5]) != 1;
    native.Tell(0, 1, 512);  // no file yet: counted
    odd |= vramscope_history_begin(first.c_str(), 0) != 1;
    native.Tell(0, 0x1000, 100, 1);
    native.Tell(7, 0, 0);  // somebody looked
    native.Tell(1, 0x1000, 100, 1);
    native.Tell(2, 0x1000, 100, 1);
    odd |= vramscope_history_begin(second.c_str(), 1) != 1;
    for (size_t i = 0; i < kMany; ++i) native.Tell(0, i, i + 1);
    odd |= vramscope_history_requests(0) != kMany + 1 || vramscope_history_requests(1) != 2;
    if (fork() == 0) {  // a child's are not its parent's
      native.Tell(0, 77, 77);
      _exit(0);
    }
    wait(nullptr);
    if (odd != 0) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(first));  // it is a chunk since the second began
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

TEST(Allocations, AFileThatCannotBeMadeIsSaid) {
  EXPECT_EQ(vramscope_history_begin("/nowhere/0.tail", 0), 0);
  vramscope_history_end();
}

}  // namespace
}  // namespace vramscope::program
