// CUDA's numbers for element types (cudaDataType), shared by cuBLAS, cuSOLVER, cuSPARSE and cuFFT,
// and cuBLAS's compute types. Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/kernels.h"

namespace vramscope::emulated {

struct DataType {
  uint64_t bits = 32;  // bits of an element
  bool complex = false;
  Precision precision = Precision::kFp32;
  bool fp64 = false;  // takes twice the time of fp32 in the model
};

// Unknown numbers are treated as fp32.
constexpr DataType DataTypeOf(int number) {
  switch (number) {
    case 0:
      return {32, false, Precision::kFp32, false};  // R_32F
    case 4:
      return {64, true, Precision::kFp32, false};  // C_32F
    case 1:
      return {64, false, Precision::kFp32, true};  // R_64F
    case 5:
      return {128, true, Precision::kFp32, true};  // C_64F
    case 2:
    case 14:
    case 20:
    case 21:
      return {16, false, Precision::kBf16, false};  // R_16F, R_16BF, 16I, 16U
    case 6:
    case 15:
    case 22:
    case 23:
      return {32, true, Precision::kBf16, false};  // C_16F, C_16BF
    case 3:
    case 8:
    case 28:
    case 29:
    case 30:
      return {8, false, Precision::kBf16, false};  // 8I, 8U, fp8
    case 7:
    case 9:
      return {16, true, Precision::kBf16, false};  // C_8I, C_8U
    case 10:
    case 12:
      return {32, false, Precision::kFp32, false};  // R_32I, R_32U
    case 11:
    case 13:
      return {64, true, Precision::kFp32, false};
    case 24:
    case 26:
      return {64, false, Precision::kFp32, false};  // R_64I, R_64U
    case 25:
    case 27:
      return {128, true, Precision::kFp32, false};
    case 16:
    case 18:
    case 33:
      return {4, false, Precision::kBf16, false};  // 4 bits
    default:
      return {};
  }
}

// Returns the precision that determines a product's rate. `compute_type` is cuBLAS's (64..78).
constexpr Precision ComputePrecision(int compute_type, const DataType& a, bool tf32_allowed) {
  if (a.precision == Precision::kBf16) return Precision::kBf16;
  if (a.fp64) return Precision::kFp32;
  switch (compute_type) {
    case 74:
    case 75:
      return Precision::kBf16;  // 32F_FAST_16F, 32F_FAST_16BF
    case 77:
      return Precision::kTf32;  // 32F_FAST_TF32
    default:
      return tf32_allowed ? Precision::kTf32 : Precision::kFp32;
  }
}

// Returns a * b, or the largest number if the product would overflow. So untrusted sizes can only
// cause very long durations.
constexpr uint64_t Product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX / 4 : product;
}
constexpr uint64_t Positive(int64_t value) { return value > 0 ? static_cast<uint64_t>(value) : 0; }

}  // namespace vramscope::emulated
