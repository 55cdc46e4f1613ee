// Declares the opaque handles of cuBLAS that LibTorch's header of the process group needs.
#pragma once

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t : int {};
