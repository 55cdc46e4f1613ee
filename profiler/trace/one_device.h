// Takes the part of one device out of a trace. A sum over devices is not the memory of any GPU, so
// all code that computes memory figures (curves, live sets, peaks, diffs, replay, explanations)
// requires a trace of one device. Code that opens a file does this once, at the start.
//
//   for (uint8_t device : DevicesOf(*trace)) Show(OfDevice(trace, device));
//
// Pure functions of immutable traces; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

std::vector<uint8_t> DevicesOf(const Trace& trace);  // devices that have memory, ascending
// Returns the devices that have memory or activities, ascending.
std::vector<uint8_t> DevicesWithWork(const Trace& trace);

// Returns the number of a trace's only device; 0 if the trace has no memory.
uint8_t OnlyDevice(const Trace& trace);

// Returns a trace with only the blocks, segments, other events and activities of `device`, with new
// numbers. Steps, phases, modules, ops, annotations, markers and the host's activities belong to
// all devices, so they stay (with several processes, only those of the device's process). Times,
// strings and stacks do not change: a block that is never freed exists until the whole trace ends.
// Without other devices, returns `trace`. For an unknown device,
// the result has no memory.
std::shared_ptr<const Trace> OfDevice(const std::shared_ptr<const Trace>& trace, uint8_t device);

}  // namespace vramscope::trace
