// What LibTorch's header of the process group needs of cuBLAS, declared here: handles that nobody
// looks into.
#pragma once

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t : int {};
