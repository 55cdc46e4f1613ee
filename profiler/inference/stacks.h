// Finds the phase, operator and module of each call stack. Stacks are interned, so each distinct
// frame and stack is examined only once.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/names.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

struct StackFacts {
  trace::Phase phase = trace::Phase::kNone;
  uint8_t rule = 0;          // the rule that determined `phase`
  bool recomputed = false;   // a module's forward runs again within backward
  bool accumulates = false;  // autograd stores a gradient
  bool workspace = false;
  bool communication = false;
  // The stack constructs an optimizer, or loads its state from a checkpoint.
  bool loads_state = false;
  bool moved = false;          // Module._apply moves a parameter or a buffer
  bool buffer = false;         // allocated on the line of Module._apply that moves buffers
  bool kv_cache = false;       // the innermost frame outside torch is code of a KV cache
  bool captured = false;       // allocated in the capture of a CUDA graph
  bool replica = false;        // DataParallel copies a parameter
  bool gradients = false;      // the stack allocates one buffer for all gradients
  trace::StringId op, module;  // 0: none
};

struct Stacks {
  std::vector<StackFacts> facts;  // indexed by StackId
  bool python = false;            // at least one stack has Python frames
};

Stacks ReadStacks(const recording::Recording& recording, Names& names);

}  // namespace vramscope::inference
