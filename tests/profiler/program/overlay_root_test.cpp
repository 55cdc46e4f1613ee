#include "profiler/program/overlay_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "profiler/program/isolation.h"
#include "profiler/program/scratch_folder.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseMountInfo, ReadsPathsTypesAndOctalEscapes) {
  EXPECT_THAT(ParseMountInfo("22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
                             "40 22 0:35 /x /a\\040b\\134c rw shared:1 master:2 - tmpfs none rw\n"
                             "41 22 0:36 / /short - proc\n"),
              ElementsAre(MountPoint{"/", "ext4"}, MountPoint{"/a b\\c", "tmpfs"}));
}

TEST(ParseMountInfo, SkipsInvalidLines) {
  EXPECT_THAT(ParseMountInfo(""), ElementsAre());
  EXPECT_THAT(ParseMountInfo("- - - -\n1 2 3\n1 2 3 4 relative rw - ext4 x y\n\n"), ElementsAre());
  EXPECT_THAT(ParseMountInfo("1 2 0:1 / /a\\04 rw - ext4"),
              ElementsAre(MountPoint{"/a\\04", "ext4"}));
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OverlayRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer's thread keeps the process out of user namespaces";
#endif
    folder_ = *ScratchFolder::Make();
    std::ofstream(path("kept")) << "precious";
    fs::create_directories(path("folder/below"));
    std::ofstream(path("folder/below/file")) << "precious, too";
    absl::StatusOr<std::unique_ptr<Isolation>> made =
        Isolation::Make({.mode = IsolationMode::kOverlay});
    if (!made.ok()) GTEST_SKIP() << "no mount namespace here: " << made.status();
    isolation_ = *std::move(made);
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  // Runs `inside` in a child process that enters the isolated file system. Returns its status.
  int Inside(const std::function<int()>& inside) {
    const pid_t child = fork();
    if (child == 0) _exit(isolation_->Enter() != 0 ? 99 : inside());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::unique_ptr<ScratchFolder> folder_;
  std::unique_ptr<Isolation> isolation_;
};

TEST_F(OverlayRootTest, ChangesAreVisibleOnlyInside) {
  EXPECT_EQ(Inside([&] {
              std::ofstream(path("kept")) << "changed";
              fs::remove_all(path("folder"));
              fs::create_directory(path("folder"));
              return fs::is_empty(path("folder")) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(Inside([&] {
              return ReadText(path("kept")) == "changed" && fs::is_empty(path("folder")) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(ReadText(path("kept")), "precious");
  EXPECT_EQ(ReadText(path("folder/below/file")), "precious, too");
}

TEST_F(OverlayRootTest, NewTopLevelFolderIsNotVisibleOutside) {
  const std::string made = "/vramscope-overlay-root-test";
  Inside([&] {
    std::error_code none;
    fs::create_directory(made, none);
    return 0;
  });
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(OverlayRootTest, KeepsTheCurrentFolder) {
  const fs::path current = fs::current_path();
  EXPECT_EQ(Inside([&] { return fs::current_path() == current ? 0 : 1; }), 0);
}

TEST_F(OverlayRootTest, RemovesLayerWithInaccessibleFolders) {
  const std::string layer = isolation_->changes();
  EXPECT_EQ(Inside([&] {
              fs::create_directories(path("folder/new/er"));
              fs::permissions(path("folder/new"), fs::perms::none);
              return 0;
            }),
            0);
  EXPECT_TRUE(fs::exists(layer));
  isolation_.reset();
  EXPECT_FALSE(fs::exists(layer));
}

TEST(IsolationTest, UnavailableModeNamesCauseAndNoIsolationOption) {
  const auto made = Isolation::Make({.mode = IsolationMode::kCopy, .libraries = "/nowhere"});
  ASSERT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(made.status().message()),
              AllOf(HasSubstr("/nowhere"), HasSubstr("--no-isolation")));
}

TEST(IsolationTest, RejectsMissingWritablePath) {
  const auto made = Isolation::Make({.mode = IsolationMode::kNone, .writable = {"/no/where"}});
  ASSERT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("/no/where"));
}

TEST(IsolationTest, DescriptionWarnsOfRealChangesWithoutIsolation) {
  const auto made = Isolation::Make({.mode = IsolationMode::kNone});
  ASSERT_TRUE(made.ok());
  EXPECT_THAT((*made)->Description(), HasSubstr("changes real files"));
  EXPECT_EQ((*made)->changes(), "");
}

}  // namespace
}  // namespace vramscope::program
