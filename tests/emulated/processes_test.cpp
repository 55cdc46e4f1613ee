// Tests how processes share the emulated GPUs.
#include "emulated/core/processes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "emulated/core/memory.h"

namespace vramscope::emulated {
namespace {

class ProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/vramscope-processes-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs the function in a child process, which lives until this object is destroyed.
  class Child {
   public:
    template <typename Function>
    explicit Child(Function&& function) {
      int ready[2] = {};
      EXPECT_EQ(pipe(ready), 0);
      process_ = fork();
      if (process_ == 0) {
        const char answer = function() ? 1 : 0;
        const ssize_t written = write(ready[1], &answer, 1);
        if (written == 1) pause();
        _exit(0);
      }
      char answer = 0;
      EXPECT_EQ(read(ready[0], &answer, 1), 1);
      good_ = answer == 1;
      close(ready[0]);
      close(ready[1]);
    }
    ~Child() {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    pid_t process() const { return process_; }
    bool good() const { return good_; }

   private:
    pid_t process_ = 0;
    bool good_ = false;
  };

  std::string folder_;
};

TEST_F(ProcessesTest, SeesMemoryOfOtherProcesses) {
  SharedGpus here(folder_);
  here.Hold(0, 100);
  EXPECT_EQ(here.UsedByOtherProcesses(0), 0u);
  {
    const Child child([&] {
      SharedGpus there(folder_);
      there.Hold(0, 7);
      there.Hold(1, 8);
      return there.UsedByOtherProcesses(0) == 100 && there.UsedByOtherProcesses(1) == 0;
    });
    EXPECT_TRUE(child.good());
    EXPECT_EQ(here.UsedByOtherProcesses(0),
              0u);  // the child destroyed its object, so it uses no memory
    const Child other([&] {
      static SharedGpus there(folder_);
      there.Hold(0, 7);
      return true;
    });
    EXPECT_EQ(here.UsedByOtherProcesses(0), 7u);
    ASSERT_EQ(here.OtherProcesses(0).size(), 1u);
    EXPECT_EQ(here.OtherProcesses(0)[0].process, other.process());
  }
  EXPECT_EQ(here.UsedByOtherProcesses(0), 0u);  // the child was killed
  struct stat facts = {};
  ASSERT_EQ(stat((folder_ + "/cards").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(ProcessesTest, ForkedChildIsCountedSeparately) {
  SharedGpus here(folder_);
  here.Hold(0, 100);
  const Child child([&] {
    here.Hold(0, 5);  // the child's copy of the object
    return here.UsedByOtherProcesses(0) == 100;
  });
  EXPECT_TRUE(child.good());
  EXPECT_EQ(here.UsedByOtherProcesses(0), 5u);
}

TEST_F(ProcessesTest, ForkedChildJoinsAnotherRun) {
  const std::string other = folder_ + "/other";
  ASSERT_EQ(mkdir(other.c_str(), 0700), 0);
  SharedGpus here(folder_);
  here.Hold(0, 100);
  const Child child([&] {
    here.UseFolder(other);
    here.Hold(0, 5);
    return here.UsedByOtherProcesses(0) == 0;
  });
  EXPECT_TRUE(child.good());
  EXPECT_EQ(here.UsedByOtherProcesses(0), 0u);
  here.Hold(0, 0);
  here.UseFolder(other);
  EXPECT_EQ(here.UsedByOtherProcesses(0), 5u);
}

TEST_F(ProcessesTest, CountsProcessesThatStartTogether) {
  SharedGpus here(folder_);
  std::vector<std::unique_ptr<Child>> children;
  std::vector<std::thread> threads;
  children.resize(8);
  for (auto& child : children)
    threads.emplace_back([&] {
      child = std::make_unique<Child>([&] {
        static SharedGpus there(folder_);
        there.Hold(0, 1);
        return true;
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(here.UsedByOtherProcesses(0), 8u);
}

TEST_F(ProcessesTest, SeesNoProcessesWithoutSharedFolder) {
  SharedGpus alone("");
  alone.Hold(0, 1);
  EXPECT_EQ(alone.UsedByOtherProcesses(0), 0u);
  SharedGpus nowhere(folder_ + "/missing");
  nowhere.Hold(0, 1);
  EXPECT_EQ(nowhere.UsedByOtherProcesses(0), 0u);
  ASSERT_EQ(symlink("/dev/null", (folder_ + "/cards").c_str()), 0);  // not part of the group
  SharedGpus linked(folder_);
  linked.Hold(0, 1);
  EXPECT_EQ(linked.UsedByOtherProcesses(0), 0u);
}

TEST_F(ProcessesTest, ProcessesShareTheGpusCapacity) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  Gpu gpu;
  gpu.memory_bytes = 24 * kGiB;
  gpu.context_bytes = kGiB;
  SharedGpus here(folder_);
  Memory memory(std::span(&gpu, 1), Placement::kDescending);
  memory.Share(&here);
  memory.TakeContext(0);
  void* address = nullptr;
  ASSERT_EQ(memory.Allocate(0, 14 * kGiB, &address), Result::kSuccess);
  const Child child([&] {
    static SharedGpus there(folder_);
    static Memory second(std::span(&gpu, 1), Placement::kDescending);
    second.Share(&there);
    second.TakeContext(0);
    void* at = nullptr;
    return second.free(0) == 8 * kGiB &&  // 24 GiB minus two contexts and 14 GiB
           second.Allocate(0, 14 * kGiB, &at) == Result::kOutOfMemory && second.used(0) == 0 &&
           second.Allocate(0, 6 * kGiB, &at) == Result::kSuccess && second.free(0) == 2 * kGiB;
  });
  EXPECT_TRUE(child.good());
  EXPECT_EQ(memory.free(0), 2 * kGiB);
  EXPECT_EQ(memory.TakePhysical(0, 4 * kGiB), Result::kOutOfMemory);
  EXPECT_EQ(memory.Free(address), Result::kSuccess);
  EXPECT_EQ(memory.free(0), 16 * kGiB);
}

}  // namespace
}  // namespace vramscope::emulated
