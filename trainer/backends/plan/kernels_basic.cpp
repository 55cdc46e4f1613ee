// Factories, views, copies, fills: called so often that the fallback would be too slow, or wrong on
// Meta (resize_ there asks for no memory).
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <cmath>

#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"

namespace vramscope::trainer::plan {
namespace {

using at::Tensor;

constexpr c10::DispatchKeySet kCudaKey(c10::DispatchKey::CUDA);

Tensor Empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> type,
             std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
             std::optional<at::MemoryFormat> format) {
  return Tensor(at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &PlanAllocator(), kCudaKey,
                                          c10::dtype_or_default(type), format));
}

Tensor EmptyStrided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                    std::optional<at::ScalarType> type, std::optional<at::Layout>,
                    std::optional<at::Device>, std::optional<bool>) {
  return Tensor(at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size),
                                                  C10_AS_INTARRAYREF_SLOW(stride), &PlanAllocator(),
                                                  kCudaKey, c10::dtype_or_default(type)));
}

const Tensor& Resize(const Tensor& self, c10::SymIntArrayRef size,
                     std::optional<at::MemoryFormat> format) {
  const at::IntArrayRef sizes = C10_AS_INTARRAYREF_SLOW(size);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (self.sizes() == sizes && !format.has_value()) return self;
  impl->set_sizes_contiguous(sizes);
  if (format.has_value()) impl->empty_tensor_restride(*format);
  const size_t need =
      static_cast<size_t>(impl->storage_offset() + impl->numel()) * self.element_size();
  c10::Storage storage = self.storage();
  if (impl->numel() > 0 && storage.nbytes() < need) {
    // As resize_bytes_cuda: the new block is asked for while the old one lives.
    c10::DataPtr data = PlanMemory::Get().Allocate(need, PlanDevice());
    storage.set_data_ptr(std::move(data));
    storage.set_nbytes(need);
  }
  return self;
}

Tensor& Copy(Tensor& self, const Tensor& source, bool) {
  if (self.numel() == 0) return self;
  if (self.is_cuda() && source.is_cuda()) {
    Launch(Bytes(self) + Bytes(source));
    return self;
  }
  // Between host and GPU only contiguous bytes of one type travel: anything else is staged there
  // (copy_requires_temporaries of Copy.cu).
  if (self.is_cuda() && !self.is_contiguous()) Scratch staging(Bytes(self));
  if (source.is_cuda() && (!source.is_contiguous() || source.dtype() != self.dtype())) {
    Scratch staging(self.numel() * self.element_size());
  }
  PlanMemory::Get().roofline().Advance({.link_bytes = Bytes(self)});
  // What arrives on the host is defined, if not computed.
  if (!self.is_cuda()) self.zero_();
  return self;
}

Tensor AsStrided(const Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                 std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
      offset ? std::optional<int64_t>(offset->expect_int()) : std::nullopt);
}

Tensor View(const Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

Tensor ReshapeAlias(const Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size),
                                    C10_AS_INTARRAYREF_SLOW(stride));
}

Tensor& FillScalar(Tensor& self, const at::Scalar&) {
  Launch(Bytes(self));
  return self;
}
Tensor& FillTensor(Tensor& self, const Tensor&) {
  Launch(Bytes(self));
  return self;
}
Tensor& Zero(Tensor& self) {
  Launch(Bytes(self));
  return self;
}

// CUDA makes an empty result and resizes it: one request of the final size.
Tensor& Arange(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step,
               Tensor& out) {
  TORCH_CHECK(step.toDouble() != 0, "step must be nonzero");
  const double count = (end.toDouble() - start.toDouble()) / step.toDouble();
  TORCH_CHECK(count >= 0, "upper bound and larger bound inconsistent with step sign");
  out.resize_({static_cast<int64_t>(std::ceil(count))});
  Launch(Bytes(out));
  return out;
}

// No Meta kernel in C++. The result has the layout TensorIterator gives it: that of the operands.
Tensor Where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  const at::ScalarType type = at::result_type(self, other);
  const auto shape =
      at::infer_size_dimvector(at::infer_size(condition.sizes(), self.sizes()), other.sizes());
  const at::IntArrayRef size(shape.data(), shape.size());
  Tensor out;
  for (const Tensor* operand : {&self, &other, &condition}) {
    if (operand->sizes() != size || !operand->is_non_overlapping_and_dense()) continue;
    out = at::empty_strided(size, operand->strides(),
                            self.options().dtype(type).device(PlanDevice()));
    break;
  }
  if (!out.defined()) out = at::empty(size, self.options().dtype(type).device(PlanDevice()));
  Launch(Bytes(condition, self, other, out));
  return out;
}

Tensor& WhereOut(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  const auto shape =
      at::infer_size_dimvector(at::infer_size(condition.sizes(), self.sizes()), other.sizes());
  out.resize_(at::IntArrayRef(shape.data(), shape.size()));
  Launch(Bytes(condition, self, other, out));
  return out;
}

// There are no values. Zero reads as "no infinity found", "loss 0", "norm 0".
at::Scalar Item(const Tensor& self) {
  PlanMemory::Get().roofline().Advance({.link_bytes = Bytes(self)});
  if (at::isIntegralType(self.scalar_type(), true)) return at::Scalar(int64_t{0});
  return at::Scalar(0.0);
}

bool Equal(const Tensor& self, const Tensor& other) {
  if (self.sizes() != other.sizes()) return false;
  // [R] the comparison's result, then the reduction's.
  Scratch comparison(self.numel());
  Scratch all(1);
  Launch(Bytes(self, other));
  return true;
}

Tensor Relu(const Tensor& self) {
  Tensor out = at::empty_like(self);
  Launch(Bytes(self, out));
  return out;
}

}  // namespace

void Launch(uint64_t bytes) { PlanMemory::Get().roofline().Advance({.bytes = bytes}); }

void RegisterBasicKernels(torch::Library& m) {
  m.impl("empty.memory_format", Empty);
  m.impl("empty_strided", EmptyStrided);
  m.impl("resize_", Resize);
  m.impl("copy_", Copy);
  m.impl("as_strided", AsStrided);
  m.impl("view", View);
  m.impl("_reshape_alias", ReshapeAlias);
  m.impl("fill_.Scalar", FillScalar);
  m.impl("fill_.Tensor", FillTensor);
  m.impl("zero_", Zero);
  m.impl("arange.start_out", Arange);
  m.impl("where.self", Where);
  m.impl("where.self_out", WhereOut);
  m.impl("_local_scalar_dense", Item);
  m.impl("equal", Equal);
  m.impl("relu", Relu);
}

void RegisterKernels() {
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__,
                                __LINE__);
  RegisterBasicKernels(library);
  RegisterReductionKernels(library);
  RegisterBlasKernels(library);
  RegisterNnKernels(library);
  RegisterAttentionKernels(library);
  RegisterOptimizerKernels(library);
}

}  // namespace vramscope::trainer::plan
