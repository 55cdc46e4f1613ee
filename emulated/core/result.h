// The result of a call on the platform. The numbers are CUDA's. Since CUDA 10.1 the runtime
// (cudaError_t) and the driver (CUresult) use the same numbers, so a cast converts to either type.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

enum class Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kNoBinaryForDevice = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kPeerAccessUnsupported = 217,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureUnmatched = 903,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kUnknown = 999,
};

// Return for example "cudaErrorInvalidValue" and "invalid argument", or null for other numbers.
VRAMSCOPE_EMULATED_API const char* NameOf(Result result);
VRAMSCOPE_EMULATED_API const char* TextOf(Result result);

}  // namespace vramscope::emulated
