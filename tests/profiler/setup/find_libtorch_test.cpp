// Tests which of several LibTorch installations is used, and that no code in them is executed.
#include "profiler/setup/find_libtorch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/setup/install_folder.h"
#include "profiler/setup/wheels.h"
#include "tests/profiler/setup/torch_files.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Write;
using testing::WriteTorch;

class FindLibTorchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    places_.program_folder = (root_ / "build/bin").string();
    places_.download = (root_ / "data/torch-2.11.0").string();
  }
  // Creates the interpreter of a virtual environment. Returns the path of the package folder.
  fs::path Environment(const std::string& name) {
    Write(root_ / (name + "/bin/python3"), "#!/bin/sh\nexit 1\n");
    fs::permissions(root_ / (name + "/bin/python3"), fs::perms::owner_all);
    Write(root_ / (name + "/pyvenv.cfg"), "home = /usr/bin\nversion = 3.11.2\n");
    return root_ / (name + "/lib/python3.11/site-packages");
  }
  LibTorch Find() { return FindLibTorch(places_); }

  testing::Scratch root_;
  SetupPlaces places_;
};

TEST_F(FindLibTorchTest, FindsNothingInEmptyPlaces) {
  EXPECT_FALSE(Find().found());
  EXPECT_THAT(Find().rejected, IsEmpty());
  EXPECT_THAT(HowToGetLibTorch(Find()), HasSubstr("vramscope setup"));
}

TEST_F(FindLibTorchTest, SearchesPlacesInOrder) {
  const fs::path conda = Environment("conda"), venv = Environment("venv"),
                 path = Environment("usr");
  places_.python.conda_prefix = (root_ / "conda").string();
  places_.python.virtual_env = (root_ / "venv").string();
  places_.python.path =
      "relative:" + (root_ / "nothing").string() + ":" + (root_ / "usr/bin").string();
  WriteTorch(path);
  EXPECT_EQ(Find().root, path);
  EXPECT_EQ(Find().where, "python3 on PATH");
  WriteTorch(conda);
  EXPECT_EQ(Find().root, conda);
  WriteTorch(venv);
  EXPECT_EQ(Find().root, venv);
  WriteTorch(places_.download);
  EXPECT_EQ(Find().from, LibTorch::From::kDownload);
  WriteTorch(root_ / "deps");
  Write(root_ / "build/CMakeCache.txt",
        "A:BOOL=ON\nVRAMSCOPE_TORCH_ROOT:PATH=" + (root_ / "deps").string() + "\n");
  EXPECT_EQ(Find().from, LibTorch::From::kBuildTree);
  WriteTorch(root_ / "named");
  places_.torch_root = (root_ / "named").string();
  EXPECT_EQ(Find().from, LibTorch::From::kEnvironment);
  EXPECT_EQ(Find().root, root_ / "named");
}

TEST_F(FindLibTorchTest, FindsTorchOfThePythonThatInstalledVramscope) {
  const fs::path packages = Environment("venv");
  WriteTorch(packages);
  places_.program_folder = (packages / "vramscope/bin").string();
  EXPECT_EQ(Find().root, packages);
  EXPECT_THAT(Find().where, HasSubstr("installed in"));
}

TEST_F(FindLibTorchTest, NamedRootDisablesOtherPlaces) {
  WriteTorch(places_.download);
  places_.torch_root = (root_ / "none").string();
  EXPECT_FALSE(Find().found());
  EXPECT_THAT(Find().rejected, Contains(HasSubstr("VRAMSCOPE_TORCH_ROOT")));
}

TEST_F(FindLibTorchTest, RejectsOtherVersionsAndBuilds) {
  places_.python.virtual_env = (root_ / "venv").string();
  const fs::path packages = Environment("venv");
  const auto expect_rejected = [&](const char* version, const char* cuda,
                                   const char* expected_text) {
    WriteTorch(packages, version, cuda);
    EXPECT_FALSE(Find().found()) << version;
    EXPECT_THAT(Find().rejected,
                Contains(::testing::AllOf(HasSubstr(expected_text), HasSubstr("2.11.0"))));
  };
  expect_rejected("2.6.0+cu124", "'12.4'", "torch 2.6.0+cu124 for CUDA 12.4");
  expect_rejected("2.11.0+cu128", "'12.8'", "for CUDA 12.8");
  expect_rejected("2.11.0+cpu", "None", "torch 2.11.0+cpu");
  expect_rejected("2.110.0+cu130", "'13.0'", "torch 2.110.0");
  WriteTorch(packages);
  EXPECT_TRUE(Find().found());
}

TEST_F(FindLibTorchTest, RejectsMissingAndInvalidLibraries) {
  places_.torch_root = root_.path().string();
  for (const std::string& wrong : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(200, 'x')}) {
    WriteTorch(root_.path());
    ASSERT_TRUE(Find().found());
    Write(root_ / "torch/lib/libtorch_cuda.so", wrong);
    EXPECT_FALSE(Find().found());
    EXPECT_THAT(Find().rejected, Contains(HasSubstr("libtorch_cuda.so")));
  }
  WriteTorch(root_.path());
  fs::remove(root_ / "torch/lib/libtorch_nvshmem.so");
  EXPECT_THAT(Find().rejected, Contains(HasSubstr("libtorch_nvshmem.so")));
}

TEST(WhyNoLibTorch, ExplainsUnsupportedComputers) {
  EXPECT_EQ(WhyNoLibTorchOn("x86_64", "glibc 2.28"), "");
  EXPECT_EQ(WhyNoLibTorchOn("x86_64", "glibc 2.41"), "");
  EXPECT_THAT(WhyNoLibTorchOn("aarch64", "glibc 2.36"),
              AllOf(HasSubstr("only available for x86-64"), HasSubstr("aarch64")));
  EXPECT_THAT(WhyNoLibTorchOn("x86_64", ""), AllOf(HasSubstr("GNU C library"), HasSubstr("musl")));
  EXPECT_THAT(WhyNoLibTorchOn("x86_64", "musl 1.2"), HasSubstr("musl 1.2"));
  EXPECT_THAT(WhyNoLibTorchOn("x86_64", "glibc 2.27"),
              AllOf(HasSubstr("glibc 2.28"), HasSubstr("has glibc 2.27")));
  EXPECT_EQ(WhyNoLibTorchHere(), "") << "computers that run the tests can use the wheels";
}

TEST(Wheels, PinnedTorchIsTheVersionOfTheBuild) {
  const std::vector<Wheel> run = WheelsFor("run");
  ASSERT_EQ(run.size(), 1u);
  EXPECT_EQ(run[0].name, "torch");
  EXPECT_EQ(run[0].version, TorchVersion());
  EXPECT_GT(run[0].bytes, 500'000'000u);
  EXPECT_GE(WheelsFor("build").size(), 4u);
  EXPECT_GE(WheelsFor("cuda").size(), 13u);
}

TEST(Wheels, RejectsInvalidLines) {
  const std::string hash(64, 'a');
  EXPECT_TRUE(ParseWheels("# text\n\na==1 --hash=sha256:" + hash + "  # run 5 a.whl\n").ok());
  for (const char* line :
       {"a==1", "a==1 --hash=md5:1 # run 5 a.whl", "a==1 --hash=sha256:abc # run 5 a.whl",
        "a --hash=sha256:x # run 5 a.whl"})
    EXPECT_FALSE(ParseWheels(line).ok()) << line;
  EXPECT_FALSE(ParseWheels("a==1 --hash=sha256:" + hash + "  # run five a.whl").ok());
  EXPECT_FALSE(ParseWheels("a==1 --hash=sha256:" + hash + "  # run 5 ../a.whl").ok());
}

}  // namespace
}  // namespace vramscope::setup
