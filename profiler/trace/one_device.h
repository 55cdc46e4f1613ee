// A trace of several devices, and what is in it of one. A sum over devices is what no card had to
// hold: whoever shows memory shows one of them.
//
//   std::vector<uint8_t> devices = analysis::DevicesOf(*trace);
//   std::shared_ptr<const Trace> first = OfDevice(*trace, devices[0]);
//
// Pure functions of immutable traces; thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// The blocks, segments and activities of `device` alone, numbered anew; steps, phases, modules,
// ops, annotations and markers are of all devices and stay. Times, strings and stacks are as they
// were. Of a device that is not there: a trace without memory.
std::shared_ptr<const Trace> OfDevice(const Trace& trace, uint8_t device);

}  // namespace vramscope::trace
