// model.train() and model.eval(): whether dropout drops.
//
//   EvaluationScope evaluation;                        // as model.eval(), for its life
//   at::dropout(x, p, Training());                     // x itself there
//
// Of a thread; what is computed again in backward is always training.
#pragma once

namespace vramscope::trainer {

namespace detail {
inline thread_local int t_evaluations = 0;
}

inline bool Training() { return detail::t_evaluations == 0; }
// What an operator is given that drops by itself.
inline double DropoutNow(double p) { return Training() ? p : 0; }

class EvaluationScope {
 public:
  EvaluationScope() { ++detail::t_evaluations; }
  ~EvaluationScope() { --detail::t_evaluations; }
  EvaluationScope(const EvaluationScope&) = delete;
  EvaluationScope& operator=(const EvaluationScope&) = delete;
};

}  // namespace vramscope::trainer
