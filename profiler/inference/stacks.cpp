#include "profiler/inference/stacks.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using recording::Recording;
using trace::Phase;

// What one frame is a sign of.
enum Sign : uint32_t {
  kPythonFrame = 1 << 0,
  kForward = 1 << 1,
  kLoss = 1 << 2,
  kBackward = 1 << 3,
  kOptimizer = 1 << 4,
  kZeroGrad = 1 << 5,
  kData = 1 << 6,
  kSetup = 1 << 7,
  kEval = 1 << 8,
  kAccumulates = 1 << 9,
  kWorkspace = 1 << 10,
  kCommunication = 1 << 11,
  kLoadsState = 1 << 12,
  kApply = 1 << 13,       // Module._apply, which moves parameters, then buffers
  kModuleCode = 1 << 14,  // a forward that says where a module is
  kOp = 1 << 15,
  kStorageOnly = 1 << 16,  // of an op: asks for storage for the op around it
  kOurOp = 1 << 17,        // "aten::mm" in the "file" that is its module's path
  kNode = 1 << 19,         // of autograd's graph
  kFunctional = 1 << 18,   // torch.nn.functional, which a loss uses too
};

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
constexpr std::array<Text, 8> kMakes = {
    "from_pretrained", "load_state_dict", "_load_from_state_dict", "reset_parameters",
    "init_weights",    "_init_weights",   "build_model",           "create_model"};
constexpr std::array<Text, 7> kBatches = {"get_batch",  "next_batch",     "load_batch",
                                          "collate_fn", "prepare_inputs", "_prepare_inputs",
                                          "data_loader"};
constexpr std::array<Text, 5> kEvaluations = {"evaluate", "validate", "validation_step",
                                              "eval_step", "evaluation_loop"};

// A frame of a `.py` file. `file` has forward slashes.
uint32_t PythonSigns(Text function, Text file) {
  uint32_t signs = kPythonFrame;
  const Text base = BaseName(file);
  const bool in_torch = Has(file, "/torch/") || file.starts_with("torch/");
  if (in_torch && Has(file, "torch/optim/")) {
    if (base == "lr_scheduler.py" || base == "swa_utils.py") return signs;
    if (function == "zero_grad") return signs | kZeroGrad;
    if (function == "load_state_dict" || Has(function, "_process_value")) {
      return signs | kLoadsState | kSetup;
    }
    // `wrapper` of optimizer.py is around the step of every optimizer, one's own too.
    if (function != "__init__" && function != "add_param_group") signs |= kOptimizer;
    return signs;
  }
  if (in_torch && Has(file, "torch/utils/data/")) return signs | kData;
  // Checkpointing runs a part of forward again from inside the engine.
  if (in_torch && base == "checkpoint.py") {
    const bool again = Has(function, "recompute") || Has(function, "unpack");
    return signs | (again || function == "backward" ? uint32_t{kBackward} : 0);
  }
  if (in_torch && base == "distributed_c10d.py") signs |= kCommunication;
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
  const std::string lower =
      absl::AsciiStrToLower(absl::string_view(function.data(), function.size()));
  const std::string lower_base = absl::AsciiStrToLower(absl::string_view(base.data(), base.size()));
  if (IsOneOf(function, kStepFunctions) &&
      (HasOneOf(Text(lower_base),
                std::array<Text, 5>{"optim", "adam", "sgd", "lion", "accelerator"}))) {
    return signs | kOptimizer;
  }
  if (function == "optimizer_step" || function == "clip_grad_norm_") return signs | kOptimizer;
  if (function == "__init__" || IsOneOf(function, kMakes)) return signs | kSetup;
  if (IsOneOf(function, kBatches) || Has(lower_base, "dataloader")) return signs | kData;
  if (IsOneOf(function, kEvaluations)) return signs | kEval;
  if (function == "forward") {
    return signs | (HasOneOf(Text(lower_base), kLossWords) ? kLoss : kForward) | kModuleCode;
  }
  if (HasOneOf(Text(lower), kLossWords)) return signs | kLoss;
  return signs;
}

// "MmBackward0", "AccumulateGrad": an autograd node by its bare name.
bool IsNodeName(Text name) {
  if (name == "AccumulateGrad" || name == "torch::autograd::AccumulateGrad") return true;
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != Text::npos && digits + 1 < name.size() &&
         name.substr(0, digits + 1).ends_with("Backward") && !Has(name, "(");
}

bool AsksForStorageOnly(Text op) {
  return op.starts_with("empty") || op.starts_with("new_empty") || op.starts_with("resize_") ||
         op == "_resize_";
}

// A frame of compiled code, as unwinding names it; or of a snapshot that vramscope wrote.
uint32_t NativeSigns(Text name) {
  if (name.starts_with("at::_ops::")) {
    return kOp | (AsksForStorageOnly(name.substr(10)) ? uint32_t{kStorageOnly} : 0);
  }
  if (name.starts_with("torch::autograd::")) {
    const Text rest = name.substr(17);
    if (rest.starts_with("AccumulateGrad::")) return kBackward | kAccumulates | kNode;
    if (rest.starts_with("generated::") && Has(rest, "::apply(")) return kBackward | kNode;
    if (rest.starts_with("Engine::") || rest.starts_with("python::PythonEngine::") ||
        rest.starts_with("Node::operator()") || rest.starts_with("CopySlices::apply") ||
        rest.starts_with("PyNode::apply")) {
      return kBackward;
    }
  }
  if (IsNodeName(name)) {
    return kBackward | kNode | (Has(name, "AccumulateGrad") ? uint32_t{kAccumulates} : 0);
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
  if (Has(name, "::") && !Has(name, "(") && !Has(name, " ") && !Has(name, "<")) {
    const Text op = name.substr(name.rfind("::") + 2);
    return kOp | kOurOp | (AsksForStorageOnly(op) ? uint32_t{kStorageOnly} : 0);
  }
  return 0;
}

// Of `at::_ops::index_Tensor::call(...)`: "aten::index". An overload's name is stuck to the
// operator's by an underscore; those that occur are capitalized or in the list.
std::string OpName(Text frame) {
  if (!frame.starts_with("at::_ops::")) return std::string(frame);
  Text name = frame.substr(10);
  name = name.substr(0, name.find("::"));
  static constexpr std::array<Text, 17> kOverloads = {
      "_memory_format", "_dim_IntList", "_start_step", "_dim_max", "_dim_min", "_start_out",
      "_from_file",     "_correction",  "_names",      "_start",   "_other",   "_value",
      "_out",           "_self",        "_src",        "_int",     "_dim"};
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '_' && absl::ascii_isupper(name[i + 1])) {
      name = name.substr(0, i);
      break;
    }
  }
  for (bool again = true; again;) {
    again = false;
    for (const Text overload : kOverloads) {
      if (name.size() > overload.size() && name.ends_with(overload)) {
        name.remove_suffix(overload.size());
        again = true;
        break;
      }
    }
  }
  return "aten::" + std::string(name);
}

// Of `torch::autograd::generated::MmBackward0::apply(...)`: "MmBackward0"; AccumulateGrad in full,
// as RecordFunction has both.
Text NodeName(Text frame) {
  constexpr Text kGenerated = "torch::autograd::generated::";
  if (frame.starts_with(kGenerated)) frame.remove_prefix(kGenerated.size());
  const size_t member = frame.rfind("::", frame.find('('));
  return frame.find('(') == Text::npos ? frame : frame.substr(0, member);
}

class Reader {
 public:
  Reader(const Recording& recording, Names& names) : r_(recording), names_(names) {
    const uint32_t frames = r_.stacks.frame_count();
    signs_.resize(frames);
    op_.resize(frames);
    std::string file;
    for (uint32_t f = 0; f < frames; ++f) {
      const Text function = r_.strings[r_.stacks.function[f].value];
      file = r_.strings[r_.stacks.file[f].value];
      std::replace(file.begin(), file.end(), '\\', '/');
      signs_[f] = file.ends_with(".py") ? PythonSigns(function, file) : NativeSigns(function);
      if (signs_[f] & kOp) op_[f] = names_.Intern(OpName(function));
      if (signs_[f] & kNode) op_[f] = names_.Intern(NodeName(function));
    }
    FindBufferLine();
  }

  StackFacts Facts(trace::StackId id) {
    const std::span<const uint32_t> frames = r_.stacks.Frames(id);
    StackFacts facts;
    bool loads = false;
    for (size_t i = frames.size(); i-- > 0;) {  // outermost first: the innermost sign counts
      const uint32_t s = signs_[frames[i]];
      if (s & kLoadsState) loads = true;
      if (s & kAccumulates) facts.accumulates = true;
      if (s & kWorkspace) facts.workspace = true;
      if (s & kCommunication) facts.communication = true;
      if (s & kOptimizer) {
        Set(facts, Phase::kOptimizer, kStackOptimizer);
      } else if (s & kZeroGrad) {
        Set(facts, Phase::kZeroGrad, kStackZeroGrad);
      } else if (s & kBackward) {
        Set(facts, Phase::kBackward, kStackBackward);
      } else if (s & (kForward | kLoss | kFunctional)) {
        if (facts.phase == Phase::kBackward) {
          facts.recomputed |= (s & kForward) != 0;
        } else if (s & kFunctional) {
          if (facts.phase == Phase::kNone) Set(facts, Phase::kForward, kStackForward);
        } else if (facts.phase != Phase::kEval && facts.phase != Phase::kSetup) {
          s& kForward ? Set(facts, Phase::kForward, kStackForward)
                      : Set(facts, Phase::kLoss, kStackLoss);
        }
      } else if (s & kData) {
        if (facts.phase != Phase::kBackward) Set(facts, Phase::kData, kStackData);
      } else if (facts.phase == Phase::kNone && (s & (kSetup | kEval))) {
        s& kSetup ? Set(facts, Phase::kSetup, kStackSetup) : Set(facts, Phase::kEval, kStackEval);
      }
    }
    facts.loads_state = loads && facts.phase == Phase::kSetup;
    facts.buffer = facts.phase == Phase::kSetup && MovesBuffer(frames);
    facts.op = Op(frames);
    facts.module = Module(frames);
    return facts;
  }

  bool python() const {
    return std::any_of(signs_.begin(), signs_.end(), [](uint32_t s) { return s & kPythonFrame; });
  }

 private:
  static void Set(StackFacts& facts, Phase phase, Rule rule) {
    if (facts.phase != phase) facts.recomputed = false;
    facts.phase = phase;
    facts.rule = rule;
  }

  // Module._apply moves parameters on one line, buffers on a later one; it calls itself for
  // children before both. Two lines or more seen as innermost ones: the last moves buffers.
  void FindBufferLine() {
    std::vector<uint32_t> lines;
    for (uint32_t s = 1; s < r_.stacks.size(); ++s) {
      if (const uint32_t line = ApplyLine(r_.stacks.Frames({s}))) lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    if (!lines.empty() && lines.front() != lines.back()) buffer_line_ = lines.back();
  }
  uint32_t ApplyLine(std::span<const uint32_t> frames) const {
    for (const uint32_t f : frames) {
      if (signs_[f] & kApply) return r_.stacks.line[f];
    }
    return 0;
  }
  bool MovesBuffer(std::span<const uint32_t> frames) const {
    return buffer_line_ != 0 && ApplyLine(frames) == buffer_line_;
  }

  trace::StringId Op(std::span<const uint32_t> frames) const {
    trace::StringId first;
    for (const uint32_t f : frames) {
      if (!(signs_[f] & (kOp | kNode))) continue;
      if (!(signs_[f] & kStorageOnly)) return op_[f];
      if (first.value == 0) first = op_[f];
    }
    return first;
  }

  // Frames know code, not objects: the calls that lead to a module, outermost first, each with the
  // line that calls the next: "model:253.model:382.linear". A snapshot of our own has the path.
  trace::StringId Module(std::span<const uint32_t> frames) {
    path_.clear();
    for (size_t i = frames.size(); i-- > 0;) {
      const uint32_t f = frames[i];
      if (signs_[f] & kOurOp) {
        const trace::StringId file = r_.stacks.file[f];
        if (file.value != 0 && r_.strings[file.value] != "??") return file;
      }
      if (!(signs_[f] & kModuleCode)) continue;
      if (!path_.empty()) path_ += ':' + std::to_string(caller_line_) + '.';
      Text base = r_.strings[r_.stacks.file[f].value];
      base = base.substr(base.find_last_of("/\\") + 1);
      base.remove_suffix(3);  // ".py"
      path_ += base;
      caller_line_ = r_.stacks.line[f];
    }
    return names_.Intern(path_);
  }

  const Recording& r_;
  Names& names_;
  std::vector<uint32_t> signs_;      // by frame
  std::vector<trace::StringId> op_;  // by frame
  uint32_t buffer_line_ = 0, caller_line_ = 0;
  std::string path_;
};

}  // namespace

Stacks ReadStacks(const Recording& recording, Names& names) {
  Stacks stacks;
  Reader reader(recording, names);
  stacks.python = reader.python();
  stacks.facts.resize(recording.stacks.size());
  for (uint32_t s = 1; s < recording.stacks.size(); ++s) {
    StackFacts& facts = stacks.facts[s] = reader.Facts({s});
    stacks.phases |= facts.phase == Phase::kForward || facts.phase == Phase::kBackward;
  }
  return stacks;
}

}  // namespace vramscope::inference
