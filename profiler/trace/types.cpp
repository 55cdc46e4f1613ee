#include "profiler/trace/types.h"

namespace vramscope::trace {

std::string_view Name(Backend backend) {
  switch (backend) {
    case Backend::kPlan:
      return "plan";
    case Backend::kCpu:
      return "cpu";
    case Backend::kCuda:
      return "cuda";
    case Backend::kImported:
      return "imported";
  }
  return "unknown";
}

std::string_view Name(EventKind kind) {
  switch (kind) {
    case EventKind::kAlloc:
      return "alloc";
    case EventKind::kFreeRequested:
      return "free_requested";
    case EventKind::kFreeCompleted:
      return "free_completed";
    case EventKind::kRetag:
      return "retag";
    case EventKind::kSegmentAlloc:
      return "segment_alloc";
    case EventKind::kSegmentFree:
      return "segment_free";
    case EventKind::kSegmentMap:
      return "segment_map";
    case EventKind::kSegmentUnmap:
      return "segment_unmap";
    case EventKind::kOutOfMemory:
      return "out_of_memory";
    case EventKind::kPhaseBegin:
      return "phase_begin";
    case EventKind::kPhaseEnd:
      return "phase_end";
    case EventKind::kStepBegin:
      return "step_begin";
    case EventKind::kStepEnd:
      return "step_end";
    case EventKind::kMicroBatchBegin:
      return "micro_batch_begin";
    case EventKind::kMicroBatchEnd:
      return "micro_batch_end";
    case EventKind::kModuleBegin:
      return "module_begin";
    case EventKind::kModuleEnd:
      return "module_end";
    case EventKind::kOpBegin:
      return "op_begin";
    case EventKind::kOpEnd:
      return "op_end";
    case EventKind::kDeviceUsage:
      return "device_usage";
    case EventKind::kMarker:
      return "marker";
    case EventKind::kAnnotationBegin:
      return "annotation_begin";
    case EventKind::kAnnotationEnd:
      return "annotation_end";
  }
  return "unknown";
}

std::string_view Name(Category category) {
  switch (category) {
    case Category::kUnknown:
      return "Unknown";
    case Category::kParameter:
      return "Parameter";
    case Category::kBuffer:
      return "Buffer";
    case Category::kGradient:
      return "Gradient";
    case Category::kOptimizerState:
      return "Optimizer state";
    case Category::kActivation:
      return "Activation";
    case Category::kInput:
      return "Input";
    case Category::kTemporary:
      return "Temporary";
    case Category::kAutogradDetail:
      return "Autograd detail";
    case Category::kWorkspace:
      return "Workspace";
    case Category::kCommunication:
      return "Communication";
    case Category::kKvCache:
      return "KV cache";
  }
  return "Unknown";
}

std::string_view Name(Phase phase) {
  switch (phase) {
    case Phase::kNone:
      return "none";
    case Phase::kSetup:
      return "setup";
    case Phase::kData:
      return "data";
    case Phase::kForward:
      return "forward";
    case Phase::kLoss:
      return "loss";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kZeroGrad:
      return "zero_grad";
    case Phase::kEval:
      return "eval";
    case Phase::kGeneration:
      return "generation";
    case Phase::kSave:
      return "save";
    case Phase::kLoad:
      return "load";
  }
  return "none";
}

std::string_view Name(SliceKind kind) {
  switch (kind) {
    case SliceKind::kStep:
      return "step";
    case SliceKind::kMicroBatch:
      return "micro_batch";
    case SliceKind::kPhase:
      return "phase";
    case SliceKind::kModule:
      return "module";
    case SliceKind::kOp:
      return "op";
    case SliceKind::kAnnotation:
      return "annotation";
  }
  return "unknown";
}

}  // namespace vramscope::trace
