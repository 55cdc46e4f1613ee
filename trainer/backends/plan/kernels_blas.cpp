// Matrix products: contiguous copies of operands that BLAS can't take, the workspace of cuBLAS,
// and the time of the product.
#include <torch/library.h>

#include <algorithm>
#include <optional>

#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"

namespace vramscope::trainer::plan {
namespace {

using at::Tensor;

// Leading dimension: BLAS wants it at least as large as the rows it skips, and at least one.
bool Leads(int64_t stride, int64_t rows) { return stride >= std::max<int64_t>(1, rows); }

// prepare_(batch_)matrix_for_cublas of Blas.cpp: an operand is cloned for the call when neither
// orientation of its two matrix dimensions is dense along one and skips whole rows along the other.
bool NeedsClone(const Tensor& t, bool transposed, int64_t m, int64_t n, int first) {
  const at::IntArrayRef strides = t.strides();
  const int fast = transposed ? first + 1 : first;
  const int lead = transposed ? first : first + 1;
  if (strides[fast] == 1 && Leads(strides[lead], m)) return false;
  if (strides[lead] == 1 && Leads(strides[fast], n)) return false;
  return !(t.is_contiguous() && strides[first] != 0 && strides[first + 1] != 0);
}

// c[m,n] = a[m,k] b[k,n], per batch when `first` is 1.
void Product(const Tensor& a, const Tensor& b, const Tensor& c, int first) {
  const int row = first, column = first + 1;
  const at::IntArrayRef sizes = c.sizes();
  const at::IntArrayRef strides = c.strides();
  bool transposed = false;
  std::optional<Scratch> result_clone, first_clone, second_clone;
  if (strides[row] == 1 && (sizes[column] == 1 || Leads(strides[column], sizes[row]))) {
    // column-major, as BLAS writes it
  } else if (strides[column] == 1 && (sizes[row] == 1 || Leads(strides[row], sizes[column]))) {
    transposed = true;
  } else {
    result_clone.emplace(Bytes(c));
  }
  const int lead = transposed ? row : column;
  const int64_t m = sizes[transposed ? column : row];
  const int64_t n = sizes[lead];
  const Tensor& left = transposed ? b : a;
  const Tensor& right = transposed ? a : b;
  const int64_t k = left.size(lead);
  if (NeedsClone(left, transposed, m, k, first)) first_clone.emplace(Bytes(left));
  if (NeedsClone(right, transposed, k, n, first)) second_clone.emplace(Bytes(right));

  PlanMemory& memory = PlanMemory::Get();
  memory.EnsureBlasWorkspace();
  const double flops = 2.0 * static_cast<double>(c.numel()) * static_cast<double>(a.size(column));
  memory.roofline().Advance({.bytes = Bytes(a, b, c),
                             .flops = flops,
                             .rate = IsHalf(c.scalar_type()) ? Rate::kBf16 : Rate::kFp32});
}

Tensor& Bmm(const Tensor& a, const Tensor& b, Tensor& out) {
  if (out.numel() > 0) Product(a, b, out, /*first=*/1);
  return out;
}

Tensor& Mm(const Tensor& a, const Tensor& b, Tensor& out) {
  if (out.numel() > 0) Product(a, b, out, /*first=*/0);
  return out;
}

// With a bias vector 2.11 goes through cuBLASLt, whose workspace is the same one.
Tensor& Addmm(const Tensor&, const Tensor& a, const Tensor& b, const at::Scalar&, const at::Scalar&,
              Tensor& out) {
  if (out.numel() > 0) Product(a, b, out, /*first=*/0);
  return out;
}

Tensor& Baddbmm(const Tensor&, const Tensor& a, const Tensor& b, const at::Scalar&,
                const at::Scalar&, Tensor& out) {
  if (out.numel() > 0) Product(a, b, out, /*first=*/1);
  return out;
}

}  // namespace

void RegisterBlasKernels(torch::Library& m) {
  m.impl("bmm.out", Bmm);
  m.impl("mm.out", Mm);
  m.impl("addmm.out", Addmm);
  m.impl("baddbmm.out", Baddbmm);
}

}  // namespace vramscope::trainer::plan
