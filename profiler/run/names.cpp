#include "profiler/run/run_config.h"

namespace vramscope::run {

std::string_view Name(Backend value) {
  switch (value) {
    case Backend::kPlan:
      return "plan";
    case Backend::kCpu:
      return "cpu";
    case Backend::kCuda:
      return "cuda";
  }
  return "?";
}

std::string_view Name(Precision value) {
  switch (value) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp16:
      return "fp16";
    case Precision::kAmpBf16:
      return "amp-bf16";
    case Precision::kAmpFp16:
      return "amp-fp16";
  }
  return "?";
}

std::string_view Name(Attention value) {
  switch (value) {
    case Attention::kEager:
      return "eager";
    case Attention::kMath:
      return "math";
    case Attention::kEfficient:
      return "efficient";
    case Attention::kFlash:
      return "flash";
  }
  return "?";
}

std::string_view Name(OptimizerName value) {
  switch (value) {
    case OptimizerName::kSgd:
      return "sgd";
    case OptimizerName::kAdam:
      return "adam";
    case OptimizerName::kAdamW:
      return "adamw";
  }
  return "?";
}

std::string_view Name(OptimizerImpl value) {
  switch (value) {
    case OptimizerImpl::kLoop:
      return "loop";
    case OptimizerImpl::kForeach:
      return "foreach";
    case OptimizerImpl::kFused:
      return "fused";
  }
  return "?";
}

std::string_view Name(CheckpointMode value) {
  switch (value) {
    case CheckpointMode::kNone:
      return "none";
    case CheckpointMode::kLayer:
      return "layer";
    case CheckpointMode::kEveryK:
      return "every-k";
  }
  return "?";
}

std::string_view Name(ZeroGrad value) {
  switch (value) {
    case ZeroGrad::kNone:
      return "none";
    case ZeroGrad::kZero:
      return "zero";
  }
  return "?";
}

}  // namespace vramscope::run
