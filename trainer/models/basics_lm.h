// The "basics" model: a pre-norm decoder with RMSNorm, RoPE, SwiGLU and attention written out with
// elementary operators and einsum, as the programs behind the recorded snapshots have it. Every
// tensor lives exactly as long as it does in that Python program, so that in a plan the
// request stream of a step equals a recorded one event for event.
//
//   auto model = MakeBasicsLm(config, {.seq = 128});
//
// How Python's lifetimes are kept (they decide the order of the frees):
//   - an operand that is a temporary dies right after the operator, the left one before the right;
//     C++ would keep it to the end of the full expression. `Operands` consume their tensors.
//   - operands are evaluated left to right: braces, not function arguments (GCC goes right to left)
//   - a frame's variables die when it returns, arguments first, then by order of first assignment;
//     C++ goes the other way round. `Drop` at the end of each function.
//   - the arguments of a *module* call are held by its caller until the call has returned; those of
//     a plain function are not.
//   - a rebound name keeps its old tensor until the new one exists.
#pragma once

#include <memory>

#include "trainer/models/language_model.h"

namespace vramscope::trainer {

// Parameters in fp32, attention written out (run::CheckRun() refuses others). A sequence longer
// than the model's context is no error: the rotary table is made for `options.seq`.
std::unique_ptr<LanguageModel> MakeBasicsLm(const run::ModelConfig& config,
                                            const ModelOptions& options);

}  // namespace vramscope::trainer
