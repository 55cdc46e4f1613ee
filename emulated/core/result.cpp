#include "emulated/core/result.h"

namespace vramscope::emulated {
namespace {

struct Row {
  Result result;
  const char* name;
  const char* text;
};
constexpr Row kRows[] = {
    {Result::kSuccess, "cudaSuccess", "no error"},
    {Result::kInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {Result::kOutOfMemory, "cudaErrorMemoryAllocation", "out of memory"},
    {Result::kNotInitialized, "cudaErrorInitializationError", "initialization error"},
    {Result::kInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {Result::kMissingConfiguration, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {Result::kInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {Result::kNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {Result::kInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {Result::kInvalidContext, "cudaErrorDeviceUninitialized", "invalid device context"},
    {Result::kNoBinaryForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {Result::kInvalidHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {Result::kNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {Result::kNotReady, "cudaErrorNotReady", "device not ready"},
    {Result::kPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {Result::kPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {Result::kPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {Result::kHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {Result::kHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {Result::kNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {Result::kCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {Result::kCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {Result::kCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {Result::kCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {Result::kCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {Result::kCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {Result::kUnknown, "cudaErrorUnknown", "unknown error"},
};

const Row* Find(Result result) {
  for (const Row& row : kRows) {
    if (row.result == result) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

const char* NameOf(Result result) {
  const Row* row = Find(result);
  return row ? row->name : nullptr;
}

const char* TextOf(Result result) {
  const Row* row = Find(result);
  return row ? row->text : nullptr;
}

}  // namespace vramscope::emulated
