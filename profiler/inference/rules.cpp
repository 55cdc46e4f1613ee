#include "profiler/inference/rules.h"

#include <array>

namespace vramscope::inference {
namespace {

constexpr std::array<std::string_view, kRuleCount> kNames = {
    "",
    "stack: inside a module's forward",
    "stack: inside a loss function",
    "stack: autograd's engine or backward()",
    "stack: an optimizer's step",
    "stack: zero_grad",
    "stack: data loading",
    "stack: a model built, moved or loaded",
    "stack: an evaluation function",
    "stack: autograd stores a parameter's gradient",
    "stack: a library's workspace",
    "stack: communication between GPUs",
    "no stack where others have one: autograd's thread",
    "stack: a buffer moved with its module",
    "annotation: a step",
    "annotation: a phase",
    "order: between forward and backward",
    "order: between backward and the next forward",
    "order: between a step's end and the next forward",
    "order: before the first step",
    "order: a step ends with its optimizer",
    "order: one pass, nothing ends it",
    "lifetime: born in forward, freed in backward",
    "lifetime: born in forward, held after backward",
    "lifetime: born and freed in forward",
    "lifetime: born in forward, no backward follows",
    "lifetime: born in backward, there when it ends",
    "lifetime: born and freed in backward",
    "stack or repetition: forward again inside backward, kept for backward",
    "stack or repetition: forward again inside backward, freed in it",
    "lifetime: born in the optimizer's step, stays",
    "lifetime: born and freed in the optimizer's step",
    "lifetime: made before forward, there until the step ends",
    "lifetime: freed soon",
    "size: a parameter's, alive where the recording ends in backward",
    "size: a cuBLAS workspace, stays",
    "kept over steps: as many as gradients of its size",
    "kept over steps: beyond one for each gradient of its size",
    "kept over steps: no gradient has its size",
    "kept over steps: pairs of integers' size",
    "kept over steps: most of the model has no gradients",
    "older, freed when gradients are dropped",
    "older, freed in an optimizer's step",
    "older, freed in backward",
    "older, freed",
    "steps: gradients dropped together",
    "steps: the sequence of requests repeats",
    "phase: what is saved grows, until the loss",
    "phase: from the loss to the last gradient",
    "phase: after the last gradient",
    "phase: gradients dropped together",
    "phase: before the first step",
    "lifetime: born in the optimizer's step, stays in the place of one that goes",
    "kept over steps: one for each parameter, as no gradient is made anew",
};

}  // namespace

std::string_view RuleName(uint8_t rule) { return rule < kNames.size() ? kNames[rule] : ""; }

}  // namespace vramscope::inference
