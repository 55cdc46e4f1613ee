// Reductions: when several blocks share a result, the CUDA kernel asks for staging memory and
// semaphores. Which layout it sees is decided by TensorIterator, which is therefore built here,
// over host tensors of the same sizes and strides (on Meta it does not merge dimensions).
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorIterator.h>
#include <torch/library.h>

#include <optional>

#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"
#include "trainer/backends/plan/scratch.h"

namespace vramscope::trainer::plan {
namespace {

using at::Tensor;

// Below this no block gets the 256 values per thread that make it share a result.
constexpr int64_t kFewInputs = 256;

// Same sizes, strides and alignment; never read.
Tensor HostImage(const Tensor& tensor, at::ScalarType type) {
  const uint64_t base =
      (uint64_t{1} << 32) + static_cast<uint64_t>(tensor.storage_offset()) * c10::elementSize(type);
  return at::from_blob(
      reinterpret_cast<void*>(base), tensor.sizes(), tensor.strides(), [](void*) {},
      at::TensorOptions().dtype(type).device(at::kCPU));
}

// Results per thread: as many as alignment of the output allows.
int OutputVector(const at::TensorIterator& iterator, int64_t element_bytes) {
  int vector = 4;
  const auto fit = [&](uint64_t n) {
    while (n % vector != 0) vector /= 2;
  };
  fit(reinterpret_cast<uint64_t>(iterator.data_ptr(iterator.noutputs())) / element_bytes);
  const int first = iterator.num_reduce_dims();
  fit(static_cast<uint64_t>(iterator.shape()[first]));
  int dimension = 0;
  for (const int64_t stride : iterator.strides(iterator.noutputs())) {
    if (dimension != first) fit(static_cast<uint64_t>(stride) / element_bytes);
    ++dimension;
  }
  return vector;
}

void RequestScratch(const at::TensorIterator& iterator, int64_t accumulator_bytes,
                    int64_t element_bytes, int input_vector) {
  Reduction r;
  r.outputs = iterator.num_output_elements();
  if (r.outputs == 0) return;
  r.inputs_per_output = iterator.numel() / r.outputs;
  r.dimensions = iterator.ndim();
  r.reduced_dimensions = iterator.num_reduce_dims();
  r.input_vector = input_vector;
  r.output_vector = 1;
  r.accumulator_bytes = accumulator_bytes;
  if (r.dimensions > 0) {
    const auto strides = iterator.strides(iterator.ntensors() - 1);
    r.reduces_fastest =
        r.reduced_dimensions == r.dimensions || strides[0] < strides[r.reduced_dimensions];
    const int64_t fastest = r.reduces_fastest ? strides[0] : strides[r.reduced_dimensions];
    r.contiguous = fastest == element_bytes;
    if (r.contiguous && !r.reduces_fastest) r.output_vector = OutputVector(iterator, element_bytes);
  }
  const run::DeviceProfile& gpu = PlanMemory::Get().profile();
  const ReductionScratch scratch =
      ScratchOf(r, {.count = static_cast<int64_t>(gpu.sm_count),
                    .threads = static_cast<int64_t>(gpu.max_threads_per_sm)});
  if (scratch.staging == 0) return;
  Scratch staging(scratch.staging);
  Scratch semaphores(scratch.semaphores);
}

// What a reduction of `self` over `dims` into `out` asks for. `type` is what the kernel reads.
void ReduceScratch(const Tensor& out, const Tensor& self, at::OptionalIntArrayRef dims, bool keep,
                   at::ScalarType type, int64_t accumulator_bytes, int input_vector) {
  if (self.numel() == 0 || out.numel() == 0 || self.numel() / out.numel() < kFewInputs) return;
  const Tensor input = HostImage(self, type);
  const Tensor output = HostImage(out, out.scalar_type());
  const auto mask = at::native::make_dim_mask(dims, self.dim());
  const Tensor view =
      at::native::review_reduce_result(output, static_cast<int>(self.dim()), mask, keep);
  const at::TensorIterator iterator =
      at::TensorIterator::reduce_op(const_cast<Tensor&>(view), input);
  RequestScratch(iterator, accumulator_bytes, static_cast<int64_t>(c10::elementSize(type)),
                 input_vector);
}

// Half inputs with float results are read as they are; any other cast is a copy of the input.
at::ScalarType ReadType(const Tensor& self, const Tensor& out) {
  return IsHalf(self.scalar_type()) && out.scalar_type() == at::kFloat ? self.scalar_type()
                                                                       : out.scalar_type();
}
int64_t AccumulatorBytes(at::ScalarType type) {
  return IsHalf(type) ? 4 : static_cast<int64_t>(c10::elementSize(type));
}

Tensor& Sum(const Tensor& self, at::OptionalIntArrayRef dims, bool keep,
            std::optional<at::ScalarType>, Tensor& out) {
  const at::ScalarType type = ReadType(self, out);
  std::optional<Scratch> cast;
  if (type != self.scalar_type()) cast.emplace(self.numel() * c10::elementSize(type));
  ReduceScratch(out, self, dims, keep, type, AccumulatorBytes(type), IsHalf(type) ? 8 : 4);
  Launch(Bytes(self, out));
  return out;
}

Tensor& Mean(const Tensor& self, at::OptionalIntArrayRef dims, bool keep,
             std::optional<at::ScalarType>, Tensor& out) {
  const at::ScalarType type = ReadType(self, out);
  ReduceScratch(out, self, dims, keep, type, AccumulatorBytes(type), IsHalf(type) ? 8 : 4);
  Launch(Bytes(self, out));
  return out;
}

Tensor& Amax(const Tensor& self, at::IntArrayRef dims, bool keep, Tensor& out) {
  ReduceScratch(out, self, dims, keep, self.scalar_type(), AccumulatorBytes(self.scalar_type()), 4);
  Launch(Bytes(self, out));
  return out;
}

Tensor& VectorNorm(const Tensor& self, const at::Scalar&, at::OptionalIntArrayRef dims, bool keep,
                   std::optional<at::ScalarType>, Tensor& out) {
  ReduceScratch(out, self, dims, keep, self.scalar_type(), AccumulatorBytes(self.scalar_type()), 4);
  Launch(Bytes(self, out));
  return out;
}

// A value travels with its index: 16 bytes (float beside int64).
std::tuple<Tensor&, Tensor&> MaxDim(const Tensor& self, int64_t dim, bool keep, Tensor& values,
                                    Tensor& indices) {
  if (values.numel() > 0 && self.numel() / values.numel() >= kFewInputs) {
    const Tensor input = HostImage(self, self.scalar_type());
    const auto mask = at::native::make_dim_mask(dim, self.dim());
    const int dims = static_cast<int>(self.dim());
    const Tensor value =
        at::native::review_reduce_result(HostImage(values, values.scalar_type()), dims, mask, keep);
    const Tensor index = at::native::review_reduce_result(HostImage(indices, indices.scalar_type()),
                                                          dims, mask, keep);
    const at::TensorIterator iterator = at::TensorIterator::reduce_op(
        const_cast<Tensor&>(value), const_cast<Tensor&>(index), input);
    RequestScratch(iterator, 16, static_cast<int64_t>(self.element_size()), 4);
  }
  Launch(Bytes(self, values, indices));
  return {values, indices};
}

}  // namespace

void RegisterReductionKernels(torch::Library& m) {
  m.impl("sum.IntList_out", Sum);
  m.impl("mean.out", Mean);
  m.impl("amax.out", Amax);
  m.impl("linalg_vector_norm.out", VectorNorm);
  m.impl("max.dim_max", MaxDim);
}

}  // namespace vramscope::trainer::plan
