// A trace of several devices, and what is in it of one. A sum over devices is what no card had to
// hold, so that whatever tells of memory (curves, live sets, peaks, diffs, replay, explanations)
// is asked about a trace of one device: who opens a file slices it, once, at the door.
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

std::vector<uint8_t> DevicesOf(const Trace& trace);  // that have memory; ascending
// Likewise, and those that only activities are of.
std::vector<uint8_t> DevicesWithWork(const Trace& trace);

// Of a trace of one device: its number; 0 where it has no memory.
uint8_t OnlyDevice(const Trace& trace);

// The blocks, segments, other events and activities of `device` alone, numbered anew; steps,
// phases, modules, ops, annotations, markers and the host's activities are of all devices and stay
// (of several processes: those of the device's). Times, strings and stacks are as they were. The
// trace itself where it has no other device; of a device that is not there: a trace without memory.
std::shared_ptr<const Trace> OfDevice(const std::shared_ptr<const Trace>& trace, uint8_t device);

}  // namespace vramscope::trace
