// Work on the device that an API call caused. A backend reports it to the recorder, which adds the
// operator, module and thread and links the call to its work.
//
//   recorder.OnDeviceWork({.what = {.kind = ActivityKind::kKernel, .begin_ns = 8000, ...},
//                          .name = "void add(float*)", .call_name = "cudaLaunchKernel", ...});
//
// Does not use LibTorch.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/trace/activities.h"

namespace vramscope::trainer {

struct DeviceWork {
  trace::Activity what = {};  // kind, stream, from, to, address, bytes, begin and end are set
  std::string_view name = {};
  trace::ActivityKind call = trace::ActivityKind::kRuntimeCall;
  std::string_view call_name = {};
  int64_t call_begin_ns = 0, call_end_ns = 0;
  bool waits = false;  // the call returned only when the work was done
  bool first = true;   // false: the previous work has the same call
  // Whether the work advanced the virtual clock. If so, it is a part of the last move that was
  // reported (Recorder::OnMove).
  bool moved = false;
};

// The new times of work that a tape repeats.
struct DeviceWorkTimes {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t call_begin_ns = 0, call_end_ns = 0;
};

}  // namespace vramscope::trainer
