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
    "stack: a model is built, moved or loaded",
    "stack: an evaluation function",
    "no stack, although other entries have one: comes from autograd's thread",
    "stack: autograd stores a parameter's gradient",
    "stack: a library's workspace",
    "stack: communication between GPUs",
    "stack: a buffer moved with its module",
    "annotation: a step",
    "annotation: a phase",
    "order: between forward and backward",
    "order: between backward and the next forward",
    "order: between a step's end and the next forward",
    "order: before the first step",
    "order: each step ends with its optimizer step",
    "order: no optimizer step or zero_grad was found, so each forward and backward pass counts as "
    "one step",
    "no marks in the recording: all gradients are freed together",
    "no marks in the recording: the sequence of requests repeats",
    "no marks in the recording: blocks saved for backward accumulate until the loss",
    "no marks in the recording: from the loss until all blocks saved for backward are freed",
    "no marks in the recording: between backward and the next forward",
    "no marks in the recording: all gradients are freed together",
    "no marks in the recording: before the first step",
    "lifetime: allocated in forward, freed in backward",
    "lifetime: allocated in forward, still allocated after backward",
    "lifetime: allocated and freed in forward",
    "lifetime: allocated in forward, no backward follows",
    "lifetime: allocated in backward, still allocated when backward ends",
    "lifetime: allocated and freed in backward",
    "forward recomputed in backward: kept until backward uses the block",
    "forward recomputed in backward: freed before this forward ends",
    "lifetime: allocated in the optimizer's step, never freed",
    "lifetime: allocated in the optimizer's step to replace a freed state, never freed itself",
    "lifetime: allocated and freed in the optimizer's step",
    "lifetime: freed outside of all phases",
    "size: equal to the size of a parameter; live when the recording ends in backward",
    "size: equal to the size of a cuBLAS workspace; never freed",
    "live over several steps: there are gradients of this size. For each of these gradients, one "
    "block of this size is a parameter",
    "live over several steps: most of the model has no gradients, so this block is a frozen "
    "parameter",
    "live over several steps: there are more blocks of this size than gradients of this size. "
    "The blocks that are not parameters are optimizer state",
    "live over several steps: backward allocates no gradients, so for each parameter of this size, "
    "one block of this size is a gradient",
    "live over several steps: no gradient has the size of this block",
    "live over several steps: allocated where batches are made; or there are two or four blocks of "
    "this size, which are assumed to hold integers of a batch",
    "older than the recording: the block has the size of a parameter, and is freed outside of the "
    "optimizer's step",
    "older than the recording: freed in the optimizer's step",
    "older than the recording: freed in backward",
    "older than the recording: freed",
    "live over several steps: the first step allocates each category at a different time. In a "
    "replay of the first step, the block gets its recorded address only if the block has this "
    "category",
    "never freed: a parameter or a buffer; without gradients, nothing tells the two apart",
    "lifetime: allocated in forward, still allocated when the recording ends",
    "stack: a key-value cache is created or grows",
    "stack: a parameter copied to another GPU for one pass",
    "stack: the buffer of all gradients",
    "stack: an optimizer is built, or its state is loaded",
    "stack: captured into a CUDA graph, kept for its replays",
    "lifetime: in every pass, each layer replaces its block with one that is larger by a constant "
    "amount",
    "stack: allocated in a module's forward, still allocated",
    "stack: a module's forward inside generate()",
    "stack: a checkpoint is written",
    "stack: a checkpoint is read",
    "state: for every size, the number of blocks is a multiple of four (parameter, gradient, two "
    "moments). The category of each block is guessed from its address alone",
};

}  // namespace

std::string_view RuleName(uint8_t rule) { return rule < kNames.size() ? kNames[rule] : ""; }

}  // namespace vramscope::inference
