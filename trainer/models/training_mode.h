// model.train() and model.eval(): whether dropout is active.
//
//   EvaluationScope evaluation;                        // like model.eval(), until it is destroyed
//   at::dropout(x, p, Training());                     // returns x within the scope
//
// Each thread has its own mode. Recomputation in backward is always in training mode.
#pragma once

namespace vramscope::trainer {

namespace detail {
inline thread_local int t_evaluations = 0;
}

inline bool Training() { return detail::t_evaluations == 0; }
// Returns the probability for an operator that has its own dropout: p in training, otherwise 0.
inline double DropoutNow(double p) { return Training() ? p : 0; }

class EvaluationScope {
 public:
  EvaluationScope() { ++detail::t_evaluations; }
  ~EvaluationScope() { --detail::t_evaluations; }
  EvaluationScope(const EvaluationScope&) = delete;
  EvaluationScope& operator=(const EvaluationScope&) = delete;
};

}  // namespace vramscope::trainer
