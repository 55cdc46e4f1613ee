// Tests that each program of an installed tree finds its files, even if the tree was moved.
#include "profiler/base/install_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace vramscope::base {
namespace {

namespace fs = std::filesystem;

class InstallPathsTest : public testing::Test {
 protected:
  InstallPathsTest() {
    std::string pattern = (fs::temp_directory_path() / "vramscope_paths.XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~InstallPathsTest() override { fs::remove_all(root_); }
  fs::path root_;
};

TEST_F(InstallPathsTest, FindsInstalledTreeFromBinAndLib) {
  const fs::path root = root_ / "anywhere";
  fs::create_directories(root / "lib/vramscope/emulated");
  fs::create_directories(root / "bin");
  for (const char* program : {"bin/vramscope", "lib/vramscope/vramscope-worker"}) {
    const InstallPaths paths = PathsOf(root / program);
    EXPECT_TRUE(paths.installed) << program;
    EXPECT_EQ(paths.vramscope, root / "bin/vramscope");
    EXPECT_EQ(paths.worker, root / "lib/vramscope/vramscope-worker");
    EXPECT_EQ(paths.worker_loop, root / "lib/vramscope/vramscope-worker-loop");
    EXPECT_EQ(paths.torch_cuda, root / "lib/vramscope/libvramscope_torch_cuda.so");
    EXPECT_EQ(paths.emulated, root / "lib/vramscope/emulated");
    EXPECT_EQ(paths.share, root / "share");
  }
}

TEST_F(InstallPathsTest, FindsBuildTree) {
  fs::create_directories(root_ / "bin");
  fs::create_directories(root_ / "lib");
  const InstallPaths paths = PathsOf(root_ / "bin/some_test");
  EXPECT_FALSE(paths.installed);
  EXPECT_EQ(paths.vramscope, root_ / "bin/vramscope");
  EXPECT_EQ(paths.worker, root_ / "bin/vramscope-worker");
  EXPECT_EQ(paths.torch_cuda, root_ / "lib/libvramscope_torch_cuda.so");
  EXPECT_EQ(paths.emulated, root_ / "emulated");
  EXPECT_EQ(paths.share, fs::path());
}

TEST_F(InstallPathsTest, OwnPathsAreInTheTreeOfTheProgram) {
  EXPECT_TRUE(fs::exists(OwnPaths().vramscope.parent_path() / "install_paths_test"));
}

TEST_F(InstallPathsTest, RestoresTheUsersLibraryPath) {
  setenv("LD_LIBRARY_PATH", "/ours:/theirs", 1);
  RestoreLibraryPath();
  EXPECT_STREQ(std::getenv("LD_LIBRARY_PATH"), "/ours:/theirs");  // unchanged: no path was saved
  setenv("VRAMSCOPE_LIBRARY_PATH_BEFORE", "/theirs", 1);
  RestoreLibraryPath();
  EXPECT_STREQ(std::getenv("LD_LIBRARY_PATH"), "/theirs");
  EXPECT_EQ(std::getenv("VRAMSCOPE_LIBRARY_PATH_BEFORE"), nullptr);
  setenv("VRAMSCOPE_LIBRARY_PATH_BEFORE", "", 1);
  RestoreLibraryPath();
  EXPECT_EQ(std::getenv("LD_LIBRARY_PATH"), nullptr);
}

}  // namespace
}  // namespace vramscope::base
