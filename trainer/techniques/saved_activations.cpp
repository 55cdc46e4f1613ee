#include "trainer/techniques/saved_activations.h"

namespace vramscope::trainer {
namespace {

class HeldPacker final : public Held {
 public:
  explicit HeldPacker(SavedTensorPacker& packer) : scope_(&packer) {}

 private:
  PackerScope scope_;
};

}  // namespace

void SavedActivations::AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) {
  stays_ = StoragesOf(model);
}

std::unique_ptr<Held> SavedActivations::AroundForward(const RunContext&) {
  return std::make_unique<HeldPacker>(*this);
}

bool SavedActivations::Takes(const at::Tensor& tensor) const {
  return !stays_.contains(StorageKey(tensor)) && IsWorthIt(tensor);
}

}  // namespace vramscope::trainer
