// What call stacks say: the phase that a stack belongs to, its operator, its module. Stacks are
// interned, so each distinct frame is looked at once and each distinct stack once.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/names.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

struct StackFacts {
  trace::Phase phase = trace::Phase::kNone;
  uint8_t rule = 0;          // that `phase` follows from
  bool recomputed = false;   // a module's forward inside backward
  bool accumulates = false;  // autograd stores a gradient
  bool workspace = false;
  bool communication = false;
  bool loads_state = false;    // an optimizer is built, or its state comes from a checkpoint
  bool moved = false;          // Module._apply moves a parameter or a buffer
  bool buffer = false;         // the line of Module._apply that moves buffers
  bool kv_cache = false;       // the innermost code of the program's holds keys and values
  bool captured = false;       // into a CUDA graph
  bool replica = false;        // DataParallel copies a parameter
  bool gradients = false;      // one buffer for all gradients
  trace::StringId op, module;  // 0: none
};

struct Stacks {
  std::vector<StackFacts> facts;  // row = StackId
  bool python = false;            // some stack has Python frames
};

Stacks ReadStacks(const recording::Recording& recording, Names& names);

}  // namespace vramscope::inference
