#include "profiler/inference/frames.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <string>

#include "profiler/trace/op_names.h"

namespace vramscope::inference {
namespace {

using Text = std::string_view;

bool Has(Text text, Text part) { return text.find(part) != Text::npos; }

template <size_t n>
bool IsOneOf(Text text, const std::array<Text, n>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}
template <size_t n>
bool HasOneOf(Text text, const std::array<Text, n>& list) {
  return std::any_of(list.begin(), list.end(), [&](Text part) { return Has(text, part); });
}

Text BaseName(Text path) { return path.substr(path.find_last_of('/') + 1); }

constexpr std::array<Text, 3> kLossWords = {"loss", "cross_entropy", "nll"};
constexpr std::array<Text, 7> kStepFunctions = {"step",
                                                "_step",
                                                "optimizer_step",
                                                "unscale_",
                                                "_unscale_grads_",
                                                "clip_grad_norm_",
                                                "clip_grad_value_"};
constexpr std::array<Text, 9> kMoves = {"_apply", "to",   "cuda",     "half",   "float",
                                        "double", "type", "bfloat16", "convert"};
constexpr std::array<Text, 13> kMakes = {
    "from_pretrained",       "load_state_dict", "_load_from_state_dict",
    "reset_parameters",      "init_weights",    "_init_weights",
    "build_model",           "create_model",    "create_weights",
    "init_weight_list",      "get_peft_model",  "prepare_model_for_kbit_training",
    "create_quantized_param"};
// Parts of file names. These files, of serving engines and of generate(), contain only caches of
// keys and values.
constexpr std::array<Text, 4> kCacheFiles = {"cache_utils.py", "cache_engine.py", "kv_cache",
                                             "kvcache"};
// Parts of the names of functions that create such caches.
constexpr std::array<Text, 5> kCacheWords = {"kv_cache", "kvcache", "kv_pool", "key_value_cache",
                                             "past_key_values"};
constexpr std::array<Text, 5> kCaptures = {"capture_model", "capture_one_batch_size",
                                           "make_graphed_callables", "capture_cudagraph",
                                           "_capture_cudagraphs"};
constexpr std::array<Text, 7> kBatches = {"get_batch",  "next_batch",     "load_batch",
                                          "collate_fn", "prepare_inputs", "_prepare_inputs",
                                          "data_loader"};
// Functions that save checkpoints in torch, transformers, accelerate, Lightning, DeepSpeed and user
// code. state_dict() is not one of them, because code that averages weights calls it, too.
constexpr std::array<Text, 10> kSavings = {
    "save_checkpoint", "_save_checkpoint", "dump_checkpoint", "save_pretrained", "save_model",
    "save_state",      "save_adapter",     "save_weights",    "save_file",       "save_state_dict"};
constexpr std::array<Text, 9> kLoadings = {
    "load_checkpoint",      "_load_checkpoint", "_load_from_checkpoint",
    "load_adapter",         "load_weights",     "resume_from_checkpoint",
    "load_from_checkpoint", "load_file",        "load_state"};
// Forward-mode differentiation in torch.func, torch.autograd.functional and custom Functions.
constexpr std::array<Text, 4> kForwardModes = {"jvp", "_jvp_with_argnums", "apply_jvp", "jvp_call"};
constexpr std::array<Text, 5> kEvaluations = {"evaluate", "validate", "validation_step",
                                              "eval_step", "evaluation_loop"};

std::string Lower(Text text) {
  return absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
}

// Whether a file of torch only writes and reads checkpoints.
bool OfCheckpoints(Text file) {
  return file.ends_with("torch/serialization.py") || Has(file, "torch/distributed/checkpoint/");
}

uint32_t CheckpointSigns(Text function, Text file) {
  if (!OfCheckpoints(file)) {
    if (IsOneOf(function, kSavings)) return kSaves;
    return IsOneOf(function, kLoadings) ? uint32_t{kLoads} : 0;
  }
  if (Has(function, "save")) return kSaves;
  return Has(function, "load") || Has(function, "restore") ? uint32_t{kLoads} : 0;
}

// Returns signs that a frame can have in addition to those that the other functions return.
uint32_t HeldSigns(Text function, Text file, Text lower, Text lower_base) {
  uint32_t signs = 0;
  if (HasOneOf(lower_base, kCacheFiles) || HasOneOf(lower, kCacheWords) ||
      Has(file, "/mem_cache/")) {
    signs |= kKvCache;
  }
  if (IsOneOf(function, kCaptures)) signs |= kCapture;
  if (Has(lower, "workspace")) signs |= kOwnWorkspace;
  if (lower_base == "param_and_grad_buffer.py" && function == "__init__") signs |= kFlatBuffer;
  return signs;
}

uint32_t TorchSigns(Text function, Text file, Text base) {
  if (Has(file, "torch/_inductor/")) {
    return kCompiled | (Has(base, "cudagraph") ? uint32_t{kCapture} : 0);
  }
  if (Has(file, "torch/_functorch/") && function == "_backward_impl") return kBackward;
  if (Has(file, "torch/nn/parallel/") && base == "replicate.py") return kReplica;
  if (Has(file, "torch/cuda/") && base == "graphs.py") return kCapture;
  return 0;
}

}  // namespace

uint32_t PythonSigns(Text function, Text file) {
  const Text base = BaseName(file);
  const bool in_torch = Has(file, "/torch/") || file.starts_with("torch/");
  const std::string lower = Lower(function), lower_base = Lower(base);
  uint32_t signs = kPythonFrame | (in_torch ? kOfTorch | TorchSigns(function, file, base)
                                            : HeldSigns(function, file, lower, lower_base));
  if (in_torch && IsOneOf(function, kForwardModes)) return signs | kForwardMode;
  if (in_torch && Has(file, "torch/optim/")) {
    if (base == "lr_scheduler.py" || base == "swa_utils.py") return signs;
    if (function == "zero_grad") return signs | kZeroGrad;
    if (function == "load_state_dict" || Has(function, "_process_value")) {
      return signs | kLoadsState | kSetup;
    }
    // `wrapper` in optimizer.py encloses the step of every optimizer, including custom optimizers.
    if (function != "__init__" && function != "add_param_group") signs |= kOptimizer;
    return signs;
  }
  if (in_torch && Has(file, "torch/utils/data/")) return signs | kData;
  // Checkpointing recomputes a part of forward from within the autograd engine.
  if (in_torch && base == "checkpoint.py") {
    const bool again = Has(function, "recompute") || Has(function, "unpack");
    return signs | (again || function == "backward" ? uint32_t{kBackward} : 0);
  }
  if (in_torch && base == "distributed_c10d.py") signs |= kCommunication;
  if (function == "generate" && !in_torch) return signs | kGenerates;
  if (const uint32_t checkpoint = CheckpointSigns(function, file)) return signs | checkpoint;
  if (function == "zero_grad") return signs | kZeroGrad;
  if (function == "backward" || function == "_engine_run_backward" ||
      function == "manual_backward" ||
      (in_torch && base == "__init__.py" && Has(file, "torch/autograd/") && function == "grad")) {
    return signs | kBackward;
  }
  if (in_torch && Has(file, "torch/nn/modules/")) {
    if (base == "loss.py") return signs | kLoss;
    if (function == "__init__" || function == "reset_parameters") return signs | kSetup;
    if (base == "module.py") {
      if (function == "_apply") return signs | kApply | kSetup;
      if (IsOneOf(function, kMoves) || IsOneOf(function, kMakes)) return signs | kSetup;
      if (Has(function, "state_dict")) return signs;
      return signs | kForward;
    }
    return signs | kForward | (function == "forward" ? uint32_t{kModuleCode} : 0);
  }
  if (in_torch && (Has(file, "torch/nn/init.py") || Has(file, "torch/nn/parameter.py"))) {
    return signs | kSetup;
  }
  if (in_torch && base == "functional.py" && Has(file, "torch/nn/")) {
    return signs | (HasOneOf(function, kLossWords) ? kLoss : kFunctional);
  }
  if (in_torch && Has(file, "torch/nn/utils/clip_grad.py")) return signs | kOptimizer;
  if (in_torch && base == "grad_scaler.py") {
    return IsOneOf(function, kStepFunctions) || function == "update" ? signs | kOptimizer : signs;
  }
  if (IsOneOf(function, kStepFunctions) &&
      (HasOneOf(Text(lower_base),
                std::array<Text, 5>{"optim", "adam", "sgd", "lion", "accelerator"}))) {
    return signs | kOptimizer;
  }
  if (function == "optimizer_step" || function == "clip_grad_norm_") return signs | kOptimizer;
  if (function == "__init__" && Has(lower_base, "optim")) return signs | kSetup | kLoadsState;
  if (function == "__init__" || IsOneOf(function, kMakes)) return signs | kSetup;
  if (IsOneOf(function, kBatches) || Has(lower_base, "dataloader")) return signs | kData;
  if (IsOneOf(function, kEvaluations)) return signs | kEval;
  if (function == "forward") {
    return signs | (HasOneOf(Text(lower_base), kLossWords) ? kLoss : kForward) | kModuleCode;
  }
  if (HasOneOf(Text(lower), kLossWords)) return signs | kLoss;
  return signs;
}

uint32_t NativeSigns(Text name) {
  const uint32_t storage = trace::AsksForStorageOnly(name) ? uint32_t{kStorageOnly} : 0;
  if (name.starts_with("at::_ops::")) return kOp | storage;
  if (!trace::NodeName(name).empty()) {
    return kBackward | kNode | (Has(name, "AccumulateGrad") ? uint32_t{kAccumulates} : 0);
  }
  constexpr Text kAutograd = "torch::autograd::";
  if (name.starts_with(kAutograd)) {
    const Text rest = name.substr(kAutograd.size());
    if (rest.starts_with("Engine::") || rest.starts_with("python::PythonEngine::") ||
        rest.starts_with("Node::operator()") || rest.starts_with("CopySlices::apply") ||
        rest.starts_with("PyNode::apply")) {
      return kBackward;
    }
  }
  if (name.starts_with("autograd::engine::evaluate_function")) return kBackward;
  if (Has(name, "getNewWorkspace") || Has(name, "getCUDABlasLtWorkspace") ||
      Has(name, "getNewCUDABlasLtWorkspace") || Has(name, "getWorkspace") ||
      (Has(name, "cudnn") && Has(name, "Workspace"))) {
    return kWorkspace;
  }
  if (name.starts_with("c10d::") || Has(name, "ProcessGroupNCCL") ||
      name.starts_with("torch::cuda::nccl::")) {
    return kCommunication;
  }
  if (name.starts_with("torch::optim::") && Has(name, "::step(")) return kOptimizer;
  if (name.starts_with("torch::nn::") && Has(name, "::forward(")) return kForward;
  // Used for snapshots written by vramscope. Functions with these prefixes are not operators, even
  // if their names resemble operators ("at::detail::empty_generic").
  static constexpr std::array<Text, 5> kCompiledCode = {
      "at::", "c10::", "torch::", "std::", "caffe2::"};
  const bool compiled = std::any_of(kCompiledCode.begin(), kCompiledCode.end(),
                                    [&](Text prefix) { return name.starts_with(prefix); });
  if (!compiled && Has(name, "::") && !Has(name, "(") && !Has(name, " ") && !Has(name, "<")) {
    return kOp | kOurOp | storage;
  }
  return 0;
}

}  // namespace vramscope::inference
