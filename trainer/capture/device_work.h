// What a device did for a call, as a backend tells the recorder of it: the recorder adds who asked
// (operator, module, thread) and which call belongs to which work.
//
//   recorder.OnDeviceWork({.what = {.kind = ActivityKind::kKernel, .begin_ns = 8000, ...},
//                          .name = "void add(float*)", .call_name = "cudaLaunchKernel", ...});
//
// Free of LibTorch. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/trace/activities.h"

namespace vramscope::trainer {

struct DeviceWork {
  trace::Activity what = {};  // kind, stream, from, to, address, bytes, begin and end
  std::string_view name = {};
  trace::ActivityKind call = trace::ActivityKind::kRuntimeCall;
  std::string_view call_name = {};
  int64_t call_begin_ns = 0, call_end_ns = 0;
  bool waits = false;  // the call returned when it was done
  bool first = true;   // else the call is that of the work before
  // It moved the clock: it is what the move that was told of last (Recorder::OnMove) did.
  bool moved = false;
};

// When it was made once more.
struct DeviceWorkTimes {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t call_begin_ns = 0, call_end_ns = 0;
};

}  // namespace vramscope::trainer
