// Opaque handles of cuBLAS that LibTorch's process group header needs.
#pragma once

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t : int {};
