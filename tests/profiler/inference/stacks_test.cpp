// Tests what inference reads from a single stack of PyTorch. Stacks begin with the innermost frame.
#include "profiler/inference/stacks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using trace::Phase;

struct Frame {
  std::string function, file = {};
  uint32_t line = 1;
};

class StackTest : public ::testing::Test {
 protected:
  StackFacts Read(const std::vector<Frame>& frames) {
    recording::Recording r;
    const auto intern = [&](const std::string& text) -> trace::StringId {
      r.strings.push_back(text);
      return {static_cast<uint32_t>(r.strings.size() - 1)};
    };
    for (const Frame& f : frames) {
      r.stacks.frames.push_back(r.stacks.frame_count());
      r.stacks.function.push_back(intern(f.function));
      r.stacks.file.push_back(intern(f.file));
      r.stacks.line.push_back(f.line);
    }
    r.stacks.first.push_back(static_cast<uint32_t>(r.stacks.frames.size()));
    Names names(static_cast<uint32_t>(r.strings.size()));
    const StackFacts facts = ReadStacks(r, names).facts[1];
    const std::vector<std::string> added = names.Take();
    const auto text = [&](trace::StringId id) {
      return id.value < r.strings.size() ? r.strings[id.value] : added[id.value - r.strings.size()];
    };
    op = text(facts.op);
    module = text(facts.module);
    return facts;
  }
  std::string op, module;
};

const std::string kTorch = "/venv/lib/python3.12/site-packages/torch/";
const Frame kCall = {"_call_impl", kTorch + "nn/modules/module.py", 1790};
const Frame kScript = {"<module>", "/home/someone/train.py", 9};
const Frame kEngine = {"torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)"};

TEST_F(StackTest, ReadsOperatorAndModulePathOfForward) {
  const StackFacts facts = Read({{"c10::cuda::CUDACachingAllocator::allocate(unsigned long)"},
                                 {"at::_ops::empty_memory_format::call(c10::ArrayRef<long>)"},
                                 {"at::_ops::empty_like::call(at::Tensor const&)"},
                                 {"at::_ops::clone::redispatch(c10::DispatchKeySet)"},
                                 {"at::_ops::reshape::call(at::Tensor const&)"},
                                 {"forward", kTorch + "nn/modules/linear.py", 125},
                                 kCall,
                                 {"forward", "/home/someone/model.py", 382},
                                 kCall,
                                 {"forward", "/home/someone/model.py", 253},
                                 kCall,
                                 kScript});
  EXPECT_EQ(facts.phase, Phase::kForward);
  EXPECT_EQ(facts.rule, kStackForward);
  EXPECT_EQ(op, "aten::clone");
  EXPECT_EQ(module, "model:253.model:382.linear");
}

TEST_F(StackTest, StripsOverloadNamesOfOperators) {
  const std::pair<const char*, const char*> kNames[] = {
      {"index_Tensor", "aten::index"},
      {"add__Tensor", "aten::add_"},
      {"sum_dim_IntList", "aten::sum"},
      {"max_dim", "aten::max"},
      {"_to_copy", "aten::_to_copy"},
      {"native_layer_norm", "aten::native_layer_norm"},
      {"arange_start_out", "aten::arange"},
      {"where_ScalarOther", "aten::where"},
      {"log_softmax_int", "aten::log_softmax"},
      {"_foreach_add__List", "aten::_foreach_add_"},
      {"scaled_dot_product_attention", "aten::scaled_dot_product_attention"},
  };
  for (const auto& [frame, name] : kNames) {
    Read({{"at::_ops::" + std::string(frame) + "::call(x)"}});
    EXPECT_EQ(op, name) << frame;
  }
}

TEST_F(StackTest, FindsBackwardOnAutogradThread) {
  const StackFacts facts =
      Read({{"at::_ops::mm::call(at::Tensor const&)"},
            {"torch::autograd::generated::MmBackward0::apply(variable_list&&)"},
            kEngine});
  EXPECT_EQ(facts.phase, Phase::kBackward);
  EXPECT_FALSE(facts.accumulates);
  EXPECT_FALSE(facts.recomputed);
  EXPECT_EQ(op, "aten::mm");
}

TEST_F(StackTest, FindsGradientAccumulation) {
  const StackFacts facts =
      Read({{"at::_ops::empty_strided::call(c10::ArrayRef<long>)"},
            {"at::_ops::new_empty_strided::call(at::Tensor const&)"},
            {"torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"},
            kEngine});
  EXPECT_EQ(facts.phase, Phase::kBackward);
  EXPECT_TRUE(facts.accumulates);
  EXPECT_EQ(op, "torch::autograd::AccumulateGrad");
}

TEST_F(StackTest, FindsBackwardOnCallingThread) {
  EXPECT_EQ(Read({{"_engine_run_backward", kTorch + "autograd/graph.py", 825},
                  {"backward", kTorch + "autograd/__init__.py", 347},
                  {"backward", kTorch + "_tensor.py", 631},
                  kScript})
                .phase,
            Phase::kBackward);
}

TEST_F(StackTest, CheckpointRecomputationIsBackward) {
  const std::vector<Frame> frames = {{"at::_ops::mm::call(at::Tensor const&)"},
                                     {"forward", "/home/someone/model.py", 12},
                                     kCall,
                                     {"recompute_fn", kTorch + "utils/checkpoint.py", 1130},
                                     {"unpack_hook", kTorch + "utils/checkpoint.py", 1200}};
  StackFacts facts = Read(frames);
  EXPECT_EQ(facts.phase, Phase::kBackward);
  EXPECT_TRUE(facts.recomputed);
  std::vector<Frame> native = {frames.begin(), frames.begin() + 3};
  native.push_back(kEngine);
  facts = Read(native);
  EXPECT_EQ(facts.phase, Phase::kBackward);
  EXPECT_TRUE(facts.recomputed);
}

TEST_F(StackTest, FindsOptimizersOfTorchAndOfUsers) {
  EXPECT_EQ(Read({{"_multi_tensor_adamw", kTorch + "optim/adamw.py", 700},
                  {"step", kTorch + "optim/adamw.py", 243},
                  {"wrapper", kTorch + "optim/optimizer.py", 533},
                  kScript})
                .phase,
            Phase::kOptimizer);
  EXPECT_EQ(Read({{"step", "/home/someone/my_optimizers.py", 80}, kScript}).phase,
            Phase::kOptimizer);
  EXPECT_EQ(Read({{"clip_grad_norm_", kTorch + "nn/utils/clip_grad.py", 30}, kScript}).phase,
            Phase::kOptimizer);
  EXPECT_EQ(Read({{"zero_grad", kTorch + "optim/optimizer.py", 1060}, kScript}).phase,
            Phase::kZeroGrad);
  EXPECT_EQ(Read({{"step", kTorch + "optim/lr_scheduler.py", 80}, kScript}).phase, Phase::kNone);
  // A closure can run the model within the optimizer's step. This is a forward pass.
  EXPECT_EQ(Read({{"forward", "/home/someone/model.py", 3},
                  kCall,
                  {"closure", "/home/someone/train.py", 30},
                  {"step", kTorch + "optim/lbfgs.py", 330}})
                .phase,
            Phase::kForward);
}

TEST_F(StackTest, FindsLossesOfTorchAndOfUsers) {
  EXPECT_EQ(Read({{"cross_entropy", kTorch + "nn/functional.py", 3458},
                  {"forward", kTorch + "nn/modules/loss.py", 1297},
                  kCall,
                  kScript})
                .phase,
            Phase::kLoss);
  // If compute_loss of a trainer calls the model, what is inside the model is a forward pass.
  EXPECT_EQ(Read({{"linear", kTorch + "nn/functional.py", 2000},
                  {"forward", kTorch + "nn/modules/linear.py", 125},
                  kCall,
                  {"compute_loss", "/venv/transformers/trainer.py", 3600}})
                .phase,
            Phase::kForward);
  EXPECT_EQ(Read({{"log_softmax", kTorch + "nn/functional.py", 2000},
                  {"my_loss", "/home/someone/train.py", 36}})
                .phase,
            Phase::kLoss);
}

TEST_F(StackTest, FindsSetupDataLoadingAndWorkspaces) {
  EXPECT_EQ(Read({{"convert", kTorch + "nn/modules/module.py", 1369},
                  {"_apply", kTorch + "nn/modules/module.py", 957},
                  {"to", kTorch + "nn/modules/module.py", 1371},
                  kScript})
                .phase,
            Phase::kSetup);
  EXPECT_EQ(Read({{"pin_memory", kTorch + "utils/data/_utils/pin_memory.py", 60}, kScript}).phase,
            Phase::kData);
  EXPECT_TRUE(Read({{"at::cuda::getNewWorkspace()"},
                    {"at::cuda::getCurrentCUDABlasHandle()"},
                    {"at::_ops::bmm::call(at::Tensor const&)"}})
                  .workspace);
  const StackFacts loaded =
      Read({{"_process_value_according_to_param_policy", kTorch + "optim/optimizer.py", 700},
            {"load_state_dict", kTorch + "optim/optimizer.py", 800},
            kScript});
  EXPECT_TRUE(loaded.loads_state);
}

// Between the frames that run a graph, torch.compile inserts the frames of the code from which the
// graph was compiled.
TEST_F(StackTest, FindsPhasesOfCompiledGraphs) {
  const std::vector<Frame> inside = {
      {"call", "/tmp/torchinductor_me/oc/coc6o35.py", 395},
      {"forward", "/home/someone/model.py", 41},
      {"forward", "/home/someone/model.py", 397},
      {"run", kTorch + "_inductor/utils.py", 3220},
      {"__call__", kTorch + "_inductor/output_code.py", 638},
      {"call_func_at_runtime_with_args", kTorch + "_functorch/_aot_autograd/utils.py", 134}};
  std::vector<Frame> backward = inside;
  backward.push_back(
      {"_backward_impl", kTorch + "_functorch/_aot_autograd/runtime_wrappers.py", 2494});
  backward.push_back({"apply", kTorch + "autograd/function.py", 317});
  StackFacts facts = Read(backward);
  EXPECT_EQ(facts.phase, Phase::kBackward);
  EXPECT_FALSE(facts.recomputed);
  EXPECT_EQ(module, "model:397.model");
  std::vector<Frame> forward = inside;
  forward.push_back(kCall);
  forward.push_back(kScript);
  facts = Read(forward);
  EXPECT_EQ(facts.phase, Phase::kForward);
  std::vector<Frame> optimizer = inside;
  optimizer.push_back({"step", kTorch + "optim/adamw.py", 243});
  EXPECT_EQ(Read(optimizer).phase, Phase::kOptimizer);
}

TEST_F(StackTest, CxxFunctionsAreNotOperators) {
  for (const char* frame :
       {"at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)",
        "at::TensorBase at::detail::_empty_generic<long>", "at::detail::empty_generic",
        "c10::cuda::CUDACachingAllocator::malloc", "torch::unwind::unwind"}) {
    Read({{frame}});
    EXPECT_EQ(op, "") << frame;
  }
}

TEST_F(StackTest, FindsKvCacheUpdates) {
  EXPECT_TRUE(Read({{"cat", kTorch + "_tensor.py", 1},
                    {"update", "/venv/transformers/cache_utils.py", 451},
                    {"forward", "/venv/transformers/models/llama/modeling_llama.py", 250},
                    kCall})
                  .kv_cache);
  // Nothing that is allocated in a forward is a cache, even if the caller's name suggests
  // it.
  EXPECT_FALSE(Read({{"forward", "/venv/vllm/model_executor/models/qwen2.py", 250},
                     kCall,
                     {"_initialize_kv_caches", "/venv/vllm/engine/llm_engine.py", 440}})
                   .kv_cache);
}

TEST_F(StackTest, ForwardInsideGenerateIsGeneration) {
  const Frame generate = {"generate", "/venv/transformers/generation/utils.py", 2600};
  const std::vector<Frame> inside = {{"forward", kTorch + "nn/modules/linear.py", 125},
                                     kCall,
                                     {"_sample", "/venv/transformers/generation/utils.py", 3400}};
  std::vector<Frame> generates = inside;
  generates.push_back(generate);
  generates.push_back(kScript);
  StackFacts facts = Read(generates);
  EXPECT_EQ(facts.phase, Phase::kGeneration);
  EXPECT_EQ(facts.rule, kStackGeneration);
  EXPECT_EQ(module, "linear");
  // The same frames within an evaluation are also generation, but not within a backward pass.
  generates.push_back({"evaluate", "/home/someone/train.py", 30});
  EXPECT_EQ(Read(generates).phase, Phase::kGeneration);
  generates.push_back(kEngine);
  EXPECT_EQ(Read(generates).phase, Phase::kBackward);
  // This is another function named generate(), which generates random numbers.
  EXPECT_EQ(Read({{"generate", "/home/someone/noise.py", 3}, kScript}).phase, Phase::kNone);
}

TEST_F(StackTest, FindsSavingAndLoadingOfCheckpoints) {
  const auto expect = [&](const std::vector<Frame>& frames, Phase phase, Rule rule) {
    const StackFacts facts = Read(frames);
    EXPECT_EQ(facts.phase, phase) << frames.front().function;
    EXPECT_EQ(facts.rule, rule) << frames.front().function;
  };
  expect({{"_cuda_deserialize", kTorch + "serialization.py", 700},
          {"restore_location", kTorch + "serialization.py", 1900},
          {"persistent_load", kTorch + "serialization.py", 2000},
          {"load", kTorch + "serialization.py", 1500},
          kScript},
         Phase::kLoad, kStackLoad);
  expect({{"_save", kTorch + "serialization.py", 1200},
          {"save", kTorch + "serialization.py", 900},
          kScript},
         Phase::kSave, kStackSave);
  // A sharded model may be gathered to be saved. The function that calls state_dict() shows this.
  expect({{"state_dict", kTorch + "nn/modules/module.py", 2200},
          {"_save_checkpoint", "/venv/transformers/trainer.py", 3200},
          kScript},
         Phase::kSave, kStackSave);
  expect({{"load_file", "/venv/safetensors/torch.py", 380}, kScript}, Phase::kLoad, kStackLoad);
  // state_dict() alone does not imply saving: it may also be called to average weights.
  expect({{"state_dict", kTorch + "nn/modules/module.py", 2200}, kScript}, Phase::kNone,
         kStatedByProducer);
  // Building a model from a checkpoint is set-up.
  expect({{"load", kTorch + "serialization.py", 1500},
          {"from_pretrained", "/venv/transformers/modeling_utils.py", 4000},
          kScript},
         Phase::kSetup, kStackSetup);
  expect({{"convert", kTorch + "nn/modules/module.py", 1369},
          {"_apply", kTorch + "nn/modules/module.py", 957},
          {"load_checkpoint", "/home/someone/train.py", 20},
          kScript},
         Phase::kSetup, kStackSetup);
  // If save_checkpoint runs the model, for example to check the file, this is a forward pass.
  expect({{"forward", kTorch + "nn/modules/linear.py", 125},
          kCall,
          {"save_checkpoint", "/home/someone/train.py", 44}},
         Phase::kForward, kStackForward);
}

TEST_F(StackTest, OptimizerConstructorAllocatesState) {
  EXPECT_TRUE(
      Read({{"_build_main_params", "/venv/megatron/core/optimizer/distrib_optimizer.py", 376},
            {"__init__", "/venv/megatron/core/optimizer/distrib_optimizer.py", 567}})
          .loads_state);
  // This stack only moves a model to the GPU, so it does not allocate optimizer state.
  EXPECT_FALSE(Read({{"convert", kTorch + "nn/modules/module.py", 1369},
                     {"_apply", kTorch + "nn/modules/module.py", 957},
                     {"__init__", "/home/someone/optimizer.py", 567}})
                   .loads_state);
}

TEST_F(StackTest, ReadsStacksOfExportedSnapshots) {
  const StackFacts facts = Read({{"aten::mm", "transformer.h.0.attn", 0},
                                 {"attn", "transformer.h.0", 0},
                                 {"0", "transformer.h", 0},
                                 {"h", "transformer", 0},
                                 {"transformer", "", 0}});
  EXPECT_EQ(facts.phase, Phase::kNone);
  EXPECT_EQ(op, "aten::mm");
  EXPECT_EQ(module, "transformer.h.0.attn");
}

TEST_F(StackTest, ReadsWindowsPaths) {
  EXPECT_EQ(Read({{"step", "C:\\venv\\Lib\\site-packages\\torch\\optim\\sgd.py", 80}}).phase,
            Phase::kOptimizer);
  Read({{"forward", "C:\\models\\net.py", 7}});
  EXPECT_EQ(module, "net");
}

// A Jacobian-vector product is a forward pass, although torch.autograd.functional runs the engine.
TEST_F(StackTest, ForwardModeDifferentiationIsForward) {
  EXPECT_EQ(Read({{"at::_ops::mm::call(at::Tensor const&)"},
                  {"_engine_run_backward", kTorch + "autograd/graph.py", 824},
                  {"grad", kTorch + "autograd/__init__.py", 496},
                  {"_autograd_grad", kTorch + "autograd/functional.py", 182},
                  {"jvp", kTorch + "autograd/functional.py", 423},
                  kScript})
                .phase,
            Phase::kForward);
  EXPECT_EQ(Read({{"at::_ops::mm::call(at::Tensor const&)"},
                  {"_engine_run_backward", kTorch + "autograd/graph.py", 824},
                  {"vjp", kTorch + "autograd/functional.py", 300},
                  kScript})
                .phase,
            Phase::kBackward);
}

}  // namespace
}  // namespace vramscope::inference
