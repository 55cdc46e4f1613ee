// The "basics" model: a pre-norm decoder with RMSNorm, RoPE, SwiGLU and attention written out with
// elementary operators and einsum, as the programs behind the recorded snapshots have it. Every
// tensor lives exactly as long as it does in that Python program, so that on the plan device the
// request stream of a step equals a recorded one event for event.
//
//   ASSIGN_OR_RETURN(auto model, MakeBasicsLm(json, {.seq = 128}));
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

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>

#include "trainer/models/language_model.h"

namespace vramscope::trainer {

// kInvalidArgument: a missing or unusable key; weights in 16 bits (the model keeps fp32 parameters:
// use amp-bf16); an attention other than eager (it is written out); seq above the rotary table is
// no error, the table is made for `seq`.
absl::StatusOr<std::unique_ptr<LanguageModel>> MakeBasicsLm(std::string_view json,
                                                            const ModelOptions& options);

}  // namespace vramscope::trainer
