// See cublas_v2.h.
#pragma once

enum cusolverStatus_t : int {};
