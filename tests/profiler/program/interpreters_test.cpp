// Finds Python environments with the layouts of venv, virtualenv, conda and Debian. The test makes
// them of empty files.
#include "profiler/program/interpreters.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

class Environments : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("vramscope-interpreters-" + std::to_string(getpid()));
    Write("home/project/deep/train.py", "");
    script_ = (root_ / "home/project/deep/train.py").string();
    places_.home = (root_ / "home").string();
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  void Program(const fs::path& name) {
    Write(name, "#!/bin/sh\n");
    fs::permissions(root_ / name, fs::perms::owner_all);
  }
  void Torch(const fs::path& packages, const std::string& version, const std::string& cuda,
             const std::string& hip = "None") {
    Write(packages / "torch/__init__.py", "");
    Write(packages / "torch/version.py",
          "from typing import Optional\n__all__ = ['cuda']\n__version__ = '" + version +
              "'\ndebug = False\ncuda: Optional[str] = " + cuda +
              "\ngit_version = 'abc'\nhip: Optional[str] = " + hip + "\n");
  }
  void Venv(const fs::path& name, const std::string& more = "") {
    Program(name / "bin/python");
    Write(name / "pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n" + more);
  }
  std::vector<Interpreter> Find() { return FindInterpreters(script_, places_); }

  fs::path root_;
  std::string script_;
  Places places_;
};

TEST_F(Environments, ListsEnvironmentNextToTheScriptFirst) {
  Venv("home/project/deep/.venv");
  Torch("home/project/deep/.venv/lib/python3.11/site-packages", "2.11.0+cu130", "'13.0'");
  Venv("home/project/venv");
  Torch("home/project/venv/lib/python3.11/site-packages", "2.6.0+cpu", "None");
  Venv("active");
  places_.virtual_env = (root_ / "active").string();
  Program("conda/envs/gpu/bin/python");
  Torch("conda/envs/gpu/lib/python3.10/site-packages", "2.4.1", "\"12.4\"");
  Write("home/.conda/environments.txt", (root_ / "conda/envs/gpu").string() + "\n/nowhere\n");
  Program("usr/bin/python3.12");
  fs::create_symlink("python3.12", root_ / "usr/bin/python3");
  places_.path = "relative:" + (root_ / "usr/bin").string();

  const std::vector<Interpreter> found = Find();
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].where, ".venv next to the script");
  EXPECT_EQ(found[0].python, "3.11.2");
  EXPECT_EQ(found[0].build, TorchBuild::kCuda);
  EXPECT_EQ(TorchText(found[0]), "torch 2.11.0+cu130");
  EXPECT_EQ(found[0].cuda, "13.0");
  EXPECT_EQ(WhyNot(found[0]), "");
  EXPECT_EQ(found[1].where, "venv in project");
  EXPECT_EQ(TorchText(found[1]), "torch 2.6.0+cpu");
  EXPECT_NE(WhyNot(found[1]).find("for the CPU only"), std::string::npos);
  EXPECT_EQ(found[2].where, "VIRTUAL_ENV");
  EXPECT_EQ(TorchText(found[2]), "no torch");
  EXPECT_NE(WhyNot(found[2]).find("pip install torch"), std::string::npos);
  EXPECT_EQ(found[3].where, "conda gpu");
  EXPECT_EQ(found[3].python, "3.10");
  EXPECT_EQ(found[3].cuda, "12.4");
  EXPECT_EQ(found[4].where, "python3 on PATH");
  EXPECT_EQ(found[4].python, "3.12");
}

TEST_F(Environments, ListsEachInterpreterOnce) {
  Venv("home/project/.venv");
  places_.virtual_env = (root_ / "home/project/.venv").string();
  places_.path = (root_ / "home/project/.venv/bin").string();
  EXPECT_EQ(Find().size(), 1u);
}

TEST_F(Environments, UsesSystemPackagesIfTheVenvIncludesThem) {
  Program("opt/bin/python3");
  Torch("opt/lib/python3/dist-packages", "1.13.1", "'11.7'");
  for (const bool sees : {false, true}) {
    Program("home/project/venv/bin/python");
    Write("home/project/venv/pyvenv.cfg",
          "home = " + (root_ / "opt/bin").string() +
              "\nversion_info = 3.9.1.final.0\ninclude-system-site-packages = " +
              (sees ? "true" : "false") + "\n");
    const Interpreter found = Find().at(0);
    EXPECT_EQ(found.torch, sees ? "1.13.1" : "");
    EXPECT_EQ(WhyNot(found).find("older than 2.0") != std::string::npos, sees);
  }
}

TEST_F(Environments, RecognizesRocmAndUnknownBuilds) {
  Venv("home/project/venv");
  Torch("home/project/venv/lib/python3.11/site-packages", "2.5.0+rocm6.2", "None", "'6.2'");
  EXPECT_EQ(Find().at(0).build, TorchBuild::kRocm);
  Write("home/project/venv/lib/python3.11/site-packages/torch/version.py",
        std::string(1 << 20, 'x'));
  EXPECT_EQ(Find().at(0).build, TorchBuild::kUnknown);
  EXPECT_EQ(WhyNot(Find().at(0)), "");
}

TEST_F(Environments, PythonPathComesBeforeTheEnvironment) {
  Venv("home/project/venv");
  Torch("home/project/venv/lib/python3.11/site-packages", "2.6.0", "'13.0'");
  EXPECT_EQ(Find().at(0).torch, "2.6.0");
  Torch("packages", "2.9.0", "'13.0'");
  places_.python_path = "/nowhere:" + (root_ / "packages").string();
  EXPECT_EQ(Find().at(0).torch, "2.9.0");
}

TEST_F(Environments, ResolvesPyenvShims) {
  Program("pyenv/shims/python3");
  for (const char* version : {"3.10.4", "3.11.7"}) {
    Program(std::string("pyenv/versions/") + version + "/bin/python3");
    Torch(std::string("pyenv/versions/") + version + "/lib/python" +
              std::string(version).substr(0, 4) + "/site-packages",
          version, "'13.0'");
  }
  Write("pyenv/version", "3.11.7\n");
  places_.path = (root_ / "pyenv/shims").string();
  EXPECT_EQ(Find().at(0).torch, "3.11.7");
  EXPECT_NE(Find().at(0).path.find("versions/3.11.7/bin"), std::string::npos);
  Write("home/project/.python-version", "3.10.4\n");
  EXPECT_EQ(Find().at(0).torch, "3.10.4");
  places_.pyenv_version = "3.11.7";
  EXPECT_EQ(Find().at(0).torch, "3.11.7");
  // If the version does not exist, returns the shim, which reports this itself when it runs.
  places_.pyenv_version = "../../x";
  EXPECT_NE(Find().at(0).path.find("shims"), std::string::npos);
}

TEST_F(Environments, FindsActiveEnvironmentWithoutScript) {
  Venv("active");
  places_.virtual_env = (root_ / "active").string();
  EXPECT_EQ(FindInterpreters("", places_).size(), 1u);
}

}  // namespace
}  // namespace vramscope::program
