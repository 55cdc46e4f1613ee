#include "trainer/techniques/recompute/random_state.h"

#include <torch/types.h>

#include "trainer/capture/scopes.h"

namespace vramscope::trainer {
namespace {

at::Tensor Get(c10::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void Set(c10::Device device, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

RandomState RandomState::Now(c10::Device device) {
  CategoryScope category(trace::Category::kAutogradDetail);
  RandomState state{Get(c10::Device(c10::kCPU)), {}};
  if (!device.is_cpu()) state.device = Get(device);
  return state;
}

void RandomState::Restore(c10::Device where) const {
  Set(c10::Device(c10::kCPU), cpu);
  if (device.defined()) Set(where, device);
}

}  // namespace vramscope::trainer
