#include "profiler/inference/stacks.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "profiler/inference/frames.h"
#include "profiler/inference/rules.h"
#include "profiler/trace/op_names.h"

namespace vramscope::inference {
namespace {

using recording::Recording;
using trace::Phase;
using Text = std::string_view;

class StackReader {
 public:
  StackReader(const Recording& recording, Names& names) : recording_(recording), names_(names) {
    const uint32_t frames = recording_.stacks.frame_count();
    signs_.resize(frames);
    op_.resize(frames);
    std::string file;
    for (uint32_t f = 0; f < frames; ++f) {
      const Text function = recording_.strings[recording_.stacks.function[f].value];
      file = recording_.strings[recording_.stacks.file[f].value];
      std::replace(file.begin(), file.end(), '\\', '/');
      signs_[f] = file.ends_with(".py") ? PythonSigns(function, file) : NativeSigns(function);
      if (signs_[f] & kOp) {
        const std::string name = trace::OperatorName(function);
        op_[f] = names_.Intern(name.empty() ? function : name);
      }
      if (signs_[f] & kNode) op_[f] = names_.Intern(trace::NodeName(function));
    }
    buffer_line_ = LastLine(kApply);
    gradient_line_ = LastLine(kFlatBuffer);
  }

  StackFacts Facts(trace::StackId id) {
    const std::span<const uint32_t> frames = recording_.stacks.Frames(id);
    StackFacts facts;
    bool loads = false, compiled = false, generates = false, forward_mode = false;
    for (size_t i = frames.size(); i-- > 0;) {  // outermost first, so that the innermost sign wins
      const uint32_t s = signs_[frames[i]];
      if (s & kLoadsState) loads = true;
      if (s & kApply) loads = false;
      if (s & kCompiled) compiled = true;
      if (s & kGenerates) generates = true;
      if (s & kForwardMode) forward_mode = true;
      if (s & kCapture) facts.captured = true;
      if (s & kReplica) facts.replica = true;
      if (s & kAccumulates) facts.accumulates = true;
      if (s & kWorkspace) facts.workspace = true;
      if (s & kCommunication) facts.communication = true;
      if (s & kOptimizer) {
        Set(facts, Phase::kOptimizer, kStackOptimizer);
      } else if (s & kZeroGrad) {
        Set(facts, Phase::kZeroGrad, kStackZeroGrad);
      } else if ((s & kForwardMode) || (forward_mode && (s & kBackward))) {
        // torch.autograd.functional.jvp uses the autograd engine for a forward computation.
        Set(facts, Phase::kForward, kStackForward);
      } else if (s & kBackward) {
        Set(facts, Phase::kBackward, kStackBackward);
      } else if (s & (kForward | kLoss | kFunctional)) {
        if (facts.phase == Phase::kBackward) {
          // In a compiled graph, frames show where the code was defined, not what runs now.
          facts.recomputed |= (s & kForward) != 0 && !compiled;
        } else if (compiled && facts.phase != Phase::kNone) {
        } else if (s & kFunctional) {
          if (facts.phase == Phase::kNone) Set(facts, Phase::kForward, kStackForward);
        } else if (facts.phase != Phase::kEval && facts.phase != Phase::kSetup) {
          s& kForward ? Set(facts, Phase::kForward, kStackForward)
                      : Set(facts, Phase::kLoss, kStackLoss);
        }
      } else if (s & kData) {
        if (facts.phase != Phase::kBackward) Set(facts, Phase::kData, kStackData);
      } else if ((s & kSetup) && (facts.phase == Phase::kNone || facts.phase == Phase::kLoad)) {
        Set(facts, Phase::kSetup, kStackSetup);
      } else if (facts.phase == Phase::kNone) {
        if (s & kEval) Set(facts, Phase::kEval, kStackEval);
        if (s & kSaves) Set(facts, Phase::kSave, kStackSave);
        if (s & kLoads) Set(facts, Phase::kLoad, kStackLoad);
      }
    }
    if (generates && (facts.phase == Phase::kForward || facts.phase == Phase::kEval))
      Set(facts, Phase::kGeneration, kStackGeneration);
    facts.loads_state = loads && facts.phase == Phase::kSetup;
    if (facts.phase == Phase::kSetup) {
      const uint32_t line = Line(frames, kApply);
      facts.moved = line != 0;
      facts.buffer = line != 0 && line == buffer_line_;
    }
    ReadHolder(frames, facts);
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

  // Reads the signs of the program's innermost frame, that is, the innermost frame outside torch.
  void ReadHolder(std::span<const uint32_t> frames, StackFacts& facts) const {
    for (const uint32_t f : frames) {
      const uint32_t s = signs_[f];
      if (!(s & kPythonFrame) || (s & kOfTorch)) continue;
      facts.kv_cache = (s & kKvCache) != 0;
      facts.workspace |= (s & kOwnWorkspace) != 0;
      facts.gradients = (s & kFlatBuffer) && recording_.stacks.line[f] == gradient_line_;
      return;
    }
  }

  // Returns the line of Module._apply that moves buffers. _apply moves parameters on one line and
  // buffers on a later line, so this is the last line at which an innermost frame of _apply occurs,
  // or 0 if only one line occurs. With kFlatBuffer, returns the line that allocates the flat
  // gradients: the last line, even if it is the only one.
  uint32_t LastLine(Sign sign) const {
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t s = 1; s < recording_.stacks.size(); ++s) {
      const uint32_t line = Line(recording_.stacks.Frames({s}), sign);
      if (line == 0) continue;
      first = std::min(first, line);
      last = std::max(last, line);
    }
    return first != last || sign == kFlatBuffer ? last : 0;
  }
  // Returns the line of the innermost frame that has the sign, or 0 if no frame has it.
  uint32_t Line(std::span<const uint32_t> frames, Sign sign) const {
    for (const uint32_t f : frames) {
      if (signs_[f] & sign) return recording_.stacks.line[f];
    }
    return 0;
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

  // Frames identify code, not objects. The name of a module is therefore the chain of calls that
  // leads to it, outermost first: "model:253.model:382.linear". Each name is followed by the line
  // that makes the next call. (Snapshots written by vramscope contain the module's path instead.)
  trace::StringId Module(std::span<const uint32_t> frames) {
    path_.clear();
    for (size_t i = frames.size(); i-- > 0;) {
      const uint32_t f = frames[i];
      if (signs_[f] & kOurOp) {
        const trace::StringId file = recording_.stacks.file[f];
        if (file.value != 0 && recording_.strings[file.value] != "??") return file;
      }
      if (!(signs_[f] & kModuleCode)) continue;
      if (!path_.empty()) path_ += ':' + std::to_string(caller_line_) + '.';
      Text base = recording_.strings[recording_.stacks.file[f].value];
      base = base.substr(base.find_last_of("/\\") + 1);
      base.remove_suffix(3);  // ".py"
      path_ += base;
      caller_line_ = recording_.stacks.line[f];
    }
    return names_.Intern(path_);
  }

  const Recording& recording_;
  Names& names_;
  std::vector<uint32_t> signs_;      // indexed by frame
  std::vector<trace::StringId> op_;  // indexed by frame
  uint32_t buffer_line_ = 0, gradient_line_ = 0, caller_line_ = 0;
  std::string path_;
};

}  // namespace

Stacks ReadStacks(const Recording& recording, Names& names) {
  Stacks stacks;
  StackReader reader(recording, names);
  stacks.python = reader.python();
  stacks.facts.resize(recording.stacks.size());
  for (uint32_t s = 1; s < recording.stacks.size(); ++s) {
    stacks.facts[s] = reader.Facts({s});
  }
  return stacks;
}

}  // namespace vramscope::inference
