// A call site must be named after the program's innermost frame, also in notebooks and on Windows.
#include "profiler/analysis/site_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/base/i18n.h"

namespace vramscope::analysis {
namespace {

struct Frame {
  std::string function, file;
  uint32_t line = 0;
};

// One stack, innermost frame first.
trace::Trace WithStack(const std::vector<Frame>& frames) {
  trace::Trace t;
  t.strings = {""};
  const auto string = [&](const std::string& text) {
    t.strings.push_back(text);
    return trace::StringId{static_cast<uint32_t>(t.strings.size() - 1)};
  };
  for (const Frame& f : frames) {
    t.stacks.frames.push_back(t.stacks.frame_count());
    t.stacks.function.push_back(string(f.function));
    t.stacks.file.push_back(string(f.file));
    t.stacks.line.push_back(f.line);
  }
  t.stacks.first.push_back(static_cast<uint32_t>(t.stacks.frames.size()));
  return t;
}

std::string NameOf(const std::vector<Frame>& frames, size_t depth = 1) {
  const trace::Trace t = WithStack(frames);
  return SiteNames(t).Name({1}, {}, depth);
}

const Frame kOperator{"at::_ops::mm::call(at::Tensor const&)", "RegisterCUDA.cpp"};
const Frame kTorch{"_call_impl", "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1511};

TEST(SiteNamesTest, NamesNotebookCells) {
  const std::string shell = "/usr/lib/python3/dist-packages/IPython/core/interactiveshell.py";
  EXPECT_EQ(NameOf({kOperator,
                    kTorch,
                    {"forward", "<ipython-input-12-0c98ad91dbd6>", 3},
                    {"<module>", "<ipython-input-25-5b7ea1e0c9b4>", 8},
                    {"run_code", shell, 3553}}),
            "In[12]:3 forward > aten::mm");
  EXPECT_EQ(NameOf({kOperator,
                    kTorch,
                    {"train", "/tmp/ipykernel_77/2198263041.py", 17},
                    {"<module>", "/tmp/ipykernel_77/2198269922.py", 2},
                    {"run_code", shell, 3553}},
                   2),
            "cell 3041:17 train < cell 9922:2 <module> > aten::mm");
}

TEST(SiteNamesTest, SkipsInstalledPackagesInWindowsPaths) {
  EXPECT_EQ(NameOf({kOperator,
                    {"_call_impl", "C:\\py\\Lib\\site-packages\\torch\\nn\\modules\\module.py", 9},
                    {"forward", "C:\\Users\\me\\run\\model.py", 42},
                    {"run", "C:\\py\\Lib\\threading.py", 975}}),
            "model.py:42 forward > aten::mm");
}

TEST(SiteNamesTest, SkipsPackagesInTheFolderThatContainsPyTorch) {
  const std::string torch = "/opt/packages/torch/nn/modules/module.py";
  trace::Trace t = WithStack({kOperator,
                              {"_call_impl", torch, 9},
                              {"forward", "/opt/packages/transformers/models/llama.py", 3},
                              {"main", "/opt/packages/train.py", 42},
                              {"run", "/home/me/launch.py", 7}});
  EXPECT_EQ(SiteNames(t).Name({1}, {}, 2),
            "module.py:9 _call_impl < llama.py:3 forward > aten::mm");
  trace::TraceBuilder builder;
  ASSERT_TRUE(builder.AddStrings(0, t.strings).ok());
  t.package_folders = builder.Snapshot()->package_folders;
  ASSERT_EQ(t.package_folders, std::vector<std::string>{"/opt/packages/"});
  EXPECT_EQ(SiteNames(t).Name({1}, {}, 2), "train.py:42 main < launch.py:7 run > aten::mm");
}

TEST(SiteNamesTest, InnermostKeyDistinguishesFunctionsOfPackagesIfAsked) {
  const auto key = [](const std::string& function, bool within_packages) {
    const trace::Trace t = WithStack({kOperator,
                                      kTorch,
                                      {function, "/usr/lib/site-packages/transformers/llama.py", 3},
                                      {"main", "/home/me/train.py", 42}});
    return SiteNames(t).InnermostKey({1}, within_packages);
  };
  EXPECT_EQ(key("forward", false), key("update_mask", false));
  EXPECT_NE(key("forward", true), key("update_mask", true));
}

TEST(SiteNamesTest, RecordedOperatorReplacesStackOperator) {
  const trace::Trace t = WithStack({kOperator, {"step", "/home/me/run/train.py", 7}});
  EXPECT_EQ(SiteNames(t).Name({1}, "aten::addmm"), "train.py:7 step > aten::addmm");
  EXPECT_EQ(SiteNames(t).Name({0}), "");
  EXPECT_EQ(SiteNames(t).Name({7}), "");
}

TEST(SiteNamesTest, SkipsCppFramesOfTheAllocationPath) {
  const Frame machinery[] = {
      {"c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)",
       "??"},
      {"at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>, c10::Allocator*)",
       "??"},
      {"at::detail::empty_generic(c10::ArrayRef<long>)", "??"},
      {"void c10::function_ref<void (int)>::callback_fn<f>(long)", "??"},
      {"void c10::(anonymous namespace)::call<at::Tensor (*)(int), 1>(int)", "??"},
      {"at::Tensor at::native::_empty_affine<int>(long)", "??"},
      {"at::_ops::empty_strided::call(c10::ArrayRef<long>)", "??"}};
  std::vector<Frame> frames(std::begin(machinery), std::end(machinery));
  EXPECT_EQ(NameOf(frames), "");
  frames.push_back({"std::vector<at::Tensor> mylib::run<float>(at::Tensor const&)", "??"});
  EXPECT_EQ(NameOf(frames), "mylib::run<float>");
  frames.insert(frames.begin(), {"at::_ops::add__Tensor::call(at::Tensor&)", "??"});
  EXPECT_EQ(NameOf(frames), "mylib::run<float> > aten::add_");
}

TEST(SiteNamesTest, NamesTheCallerOfTheOuterOperator) {
  // When PyTorch's engine adds two gradients, the stack has no Python frame and no autograd node.
  EXPECT_EQ(
      NameOf(
          {{"at::(anonymous namespace)::create_out(c10::ArrayRef<long>)", "??"},
           {"at::TensorIteratorBase::fast_set_up(at::TensorIteratorConfig const&)", "??"},
           {"at::meta::structured_add_Tensor::meta(at::Tensor const&)", "??"},
           {"at::_ops::add_Tensor::redispatch(c10::DispatchKeySet, at::Tensor const&)", "??"},
           {"torch::autograd::VariableType::(anonymous namespace)::add_Tensor(at::Tensor)", "??"},
           {"at::_ops::add_Tensor::call(at::Tensor const&)", "??"},
           {"torch::autograd::accumulate(std::vector<at::Tensor>&, unsigned long)", "??"},
           {"torch::autograd::Engine::thread_main()", "??"}}),
      "torch::autograd::accumulate > aten::add");
}

TEST(SiteNamesTest, FunctionNameDropsResultAndArguments) {
  EXPECT_EQ(FunctionName("at::TensorBase at::detail::f<long, A<b> >(c10::ArrayRef<long>)"),
            "at::detail::f<long, A<b> >");
  EXPECT_EQ(FunctionName("mylib::(anonymous namespace)::run(int)"),
            "mylib::(anonymous namespace)::run");
  EXPECT_EQ(FunctionName("forward"), "forward");
  EXPECT_EQ(FunctionName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(FunctionName("void mylib::Call::operator()(int) const"), "mylib::Call::operator");
  EXPECT_EQ(FunctionName(""), "");
}

TEST(SiteNamesTest, FileLabelIsBaseNameOrCell) {
  EXPECT_EQ(FileLabel("/home/me/run/model.py"), "model.py");
  EXPECT_EQ(FileLabel("<string>"), "<string>");
  EXPECT_EQ(FileLabel("/tmp/ipykernel_5/7.py"), "cell 7");
}

TEST(SiteNamesTest, OnlyPlaceholdersAreTranslated) {
  i18n::SetTranslator([](const std::string& english) { return "<" + english + ">"; });
  EXPECT_EQ(ShownName("(before the recording)"), "<(before the recording)>");
  EXPECT_EQ(ShownName("(no module) > aten::mm"), "<(no module)> > aten::mm");
  EXPECT_EQ(ShownName("total"), "total");
  EXPECT_EQ(ShownName(""), "");
  i18n::SetTranslator(nullptr);
  EXPECT_EQ(ShownName("(no module) > (no op)"), "(no module) > (no op)");
}

}  // namespace
}  // namespace vramscope::analysis
