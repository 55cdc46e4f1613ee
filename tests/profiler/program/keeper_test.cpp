#include "profiler/program/keeper.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

class KeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "keeper-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static bool HappensSoon(const std::function<bool()>& done) {
    for (int i = 0; i < 1000 && !done(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return done();
  }
  static bool IsAlive(pid_t pid) { return kill(pid, 0) == 0; }
  // Returns how many children of this process are keepers.
  static size_t OwnKeepers() {
    const std::string own = "PPid:\t" + std::to_string(getpid());
    size_t found = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0 || !Keeper::Is(pid)) continue;
      std::ifstream status(entry.path() / "status");
      for (std::string line; std::getline(status, line);) found += line == own;
    }
    return found;
  }

  // Starts a process with a keeper and a program. The program's parent has ended, and the program
  // has its own process group. Once the program runs, `program` is set to its process id.
  pid_t Start(const KeeperOptions& options, pid_t& program) const {
    std::array<int, 2> pipe_ends{};
    EXPECT_EQ(pipe(pipe_ends.data()), 0);
    const pid_t owner = fork();
    if (owner == 0) {
      const Keeper keeper(options);
      if (fork() == 0) {
        setsid();
        const std::string command =
            "echo $$ >&" + std::to_string(pipe_ends[1]) + "; exec sleep 1000";
        setenv("VRAMSCOPE_PROGRAM_OUTPUT", options.output.c_str(), 1);
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
      }
      while (true) pause();
    }
    std::array<char, 16> number{};
    EXPECT_GT(read(pipe_ends[0], number.data(), number.size() - 1), 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    program = std::atoi(number.data());
    return owner;
  }

  std::string folder_;
};

TEST_F(KeeperTest, EndsProgramAndRemovesFoldersOfKilledOwner) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the orphaned processes can be waited for here
  const std::string output = folder_ + "/output", other = folder_ + "/rooms";
  fs::create_directories(output);
  fs::create_directories(other);
  std::ofstream(output + "/history") << "x";
  pid_t program = 0;
  const pid_t owner =
      Start({.output = output,
             .last = {"/bin/sh", "-c", "cp '" + output + "/history' '" + folder_ + "/kept'"},
             .folders = {output, other}},
            program);
  ASSERT_TRUE(IsAlive(program));
  kill(owner, SIGKILL);
  EXPECT_TRUE(HappensSoon([&] {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return !IsAlive(program) && !fs::exists(other);
  }));
  EXPECT_FALSE(fs::exists(output));
  EXPECT_TRUE(fs::exists(folder_ + "/kept"));  // the last action was completed before that
  EXPECT_TRUE(HappensSoon(
      [] { return waitpid(-1, nullptr, WNOHANG) == -1; }));  // the keeper itself has ended, too
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(KeeperTest, DoesNothingIfTheOwnerEndsNormally) {
  const std::string output = folder_ + "/output";
  fs::create_directories(output);
  { const Keeper keeper({.output = output, .folders = {output}}); }
  EXPECT_TRUE(fs::exists(output));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // the keeper has ended
}

TEST_F(KeeperTest, OnlyTheHelperProcessIsAKeeper) {
  EXPECT_EQ(OwnKeepers(), 0u);
  {
    const Keeper keeper({.output = folder_ + "/output"});
    EXPECT_TRUE(HappensSoon([] { return OwnKeepers() == 1; }));
  }
  EXPECT_EQ(OwnKeepers(), 0u);
  EXPECT_FALSE(Keeper::Is(getpid()));
  EXPECT_FALSE(Keeper::Is(-5));
}

}  // namespace
}  // namespace vramscope::program
