#include "trainer/models/parts.h"

namespace vramscope::trainer {
namespace {

thread_local const PartRunner* t_runner = nullptr;

}  // namespace

at::Tensor RunPart(Part part, const at::Tensor& input, const PartFunction& function) {
  return t_runner != nullptr ? (*t_runner)(part, input, function) : function(input);
}

PartRunnerScope::PartRunnerScope(const PartRunner* runner) : outer_(t_runner) { t_runner = runner; }

PartRunnerScope::~PartRunnerScope() { t_runner = outer_; }

}  // namespace vramscope::trainer
