// Replaces Python's functions for frames: a PyObject* points to an Object of this file.
// tests/emulated/call_site_test.py tests with the functions of a real Python.
#include "cupti/call_site.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace vramscope::cupti {
namespace {

struct Object {
  std::string text;            // used by strings
  std::string file, function;  // used by code objects
  int line = 0;                // used by frames
  Object *code = nullptr, *caller = nullptr;
  int references = 1;
};

Object* g_innermost = nullptr;
Object* g_error = nullptr;
int g_collector = 1;
int g_lowest_collector = 1;  // lowest g_collector while frames were read
std::vector<Object*> g_made;

Object* Of(PyObject* object) { return reinterpret_cast<Object*>(object); }
PyObject* As(Object* object) { return reinterpret_cast<PyObject*>(object); }
PyObject* New(Object object) {
  g_made.push_back(new Object(std::move(object)));
  return As(g_made.back());
}
PyObject* Again(Object* object) {
  if (object != nullptr) ++object->references;
  return As(object);
}

PythonApi Api() {
  PythonApi api;
  api.IncRef = [](PyObject* object) { ++Of(object)->references; };
  api.DecRef = [](PyObject* object) { --Of(object)->references; };
  api.ErrorOccurred = [] { return As(g_error); };
  api.ErrorClear = [] { g_error = nullptr; };
  api.InternFromString = [](const char* text) { return New({.text = text}); };
  api.GetAttr = [](PyObject* object, PyObject* name) {
    return New({.text = Of(name)->text == "co_filename" ? Of(object)->file : Of(object)->function});
  };
  api.AsUtf8 = [](PyObject* object, std::ptrdiff_t* size) -> const char* {
    *size = static_cast<std::ptrdiff_t>(Of(object)->text.size());
    return Of(object)->text.c_str();
  };
  return api;
}

PythonFrames Frames() {
  PythonFrames frames;
  frames.Innermost = [] { return As(g_innermost); };
  frames.CallerOf = [](PyObject* frame) { return Again(Of(frame)->caller); };
  frames.CodeOf = [](PyObject* frame) {
    g_lowest_collector = std::min(g_lowest_collector, g_collector);
    return Again(Of(frame)->code);
  };
  frames.LineOf = [](PyObject* frame) { return Of(frame)->line; };
  frames.DisableCollector = [] { return std::exchange(g_collector, 0); };
  frames.EnableCollector = [] { return std::exchange(g_collector, 1); };
  return frames;
}

struct Line {
  std::string file;
  int line;
  std::string function;
};

class CallSiteTest : public testing::Test {
 protected:
  // Reads the call site of these frames, innermost first. Checks that all references are released.
  std::string Site(const std::vector<Line>& lines, const std::string& hooks = "",
                   const PythonFrames& frames = Frames()) {
    g_innermost = nullptr;
    const size_t begin = g_made.size();
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      Object* const code = Of(New({.file = line->file, .function = line->function}));
      g_innermost = Of(New({.line = line->line, .code = code, .caller = g_innermost}));
    }
    const size_t own = g_made.size();
    std::string site = CallSiteOf(Api(), frames, hooks);
    for (size_t i = begin; i < g_made.size(); ++i)
      EXPECT_EQ(g_made[i]->references, i < own ? 1 : 0);
    return site;
  }
  void TearDown() override {
    for (Object* const object : g_made) delete object;
    g_made.clear();
    g_innermost = g_error = nullptr;
    g_collector = g_lowest_collector = 1;
  }
};

TEST_F(CallSiteTest, IsTheProgramsInnermostFrame) {
  EXPECT_EQ(Site({{"/env/lib/python3.12/site-packages/torch/storage.py", 5, "pin"},
                  {"/home/me/data.py", 40, "collate"},
                  {"/home/me/train.py", 88, "main"}}),
            "/home/me/data.py:40 collate");
}

TEST_F(CallSiteTest, WithoutAFrameOfTheProgramIsTheInnermost) {
  EXPECT_EQ(Site({{"/env/lib/python3.12/site-packages/torch/pin_memory.py", 41, "_pin_memory_loop"},
                  {"/usr/lib/python3.12/threading.py", 1012, "run"}}),
            "/env/lib/python3.12/site-packages/torch/pin_memory.py:41 _pin_memory_loop");
  EXPECT_EQ(Site({}), "");
}

TEST_F(CallSiteTest, LeavesOutTheHooks) {
  const std::vector<Line> lines = {{"/opt/vramscope/python/vramscope/hooks.py", 7, "called"},
                                   {"/home/me/train.py", 88, "main"}};
  EXPECT_EQ(Site(lines, "/opt/vramscope/python/"), "/home/me/train.py:88 main");
  EXPECT_EQ(Site(lines), "/opt/vramscope/python/vramscope/hooks.py:7 called");
  EXPECT_EQ(Site({lines[0]}, "/opt/vramscope/python/"), "");
}

TEST_F(CallSiteTest, KeepsTheCollectorFromRunning) {
  const std::vector<Line> lines = {{"/home/me/train.py", 88, "main"}};
  Site(lines);
  EXPECT_EQ(g_lowest_collector, 0);
  EXPECT_EQ(g_collector, 1);
  g_collector = 0;  // the program disabled it
  Site(lines);
  EXPECT_EQ(g_collector, 0);
  PythonFrames old = Frames();  // Python 3.9
  old.DisableCollector = old.EnableCollector = nullptr;
  EXPECT_EQ(Site(lines, "", old), "/home/me/train.py:88 main");
}

TEST_F(CallSiteTest, KeepsAnErrorThatTheProgramHas) {
  Object error;
  g_error = &error;
  EXPECT_EQ(Site({{"/home/me/train.py", 88, "main"}}), "");
  EXPECT_EQ(g_error, &error);
}

// A recursion may be deep. Reading all of its frames would delay the allocation.
TEST_F(CallSiteTest, LooksThroughALimitedNumberOfFrames) {
  std::vector<Line> lines(5000, {"/usr/lib/python3.12/functools.py", 3, "again"});
  lines.push_back({"/home/me/train.py", 88, "main"});
  EXPECT_EQ(Site(lines), "/usr/lib/python3.12/functools.py:3 again");
}

TEST_F(CallSiteTest, IsNullWithoutPython) {
  ASSERT_FALSE(PythonFrames::The().complete);
  EXPECT_EQ(CallSite(), nullptr);
}

}  // namespace
}  // namespace vramscope::cupti
