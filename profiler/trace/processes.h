// A trace of several processes (the ranks of a program), each with its own devices. Events that
// belong to a process and not to a device (steps, phases, modules, ranges) have the process number
// in the upper bits of their thread. A marker per device, at the beginning, names the process of
// the device. OfDevice keeps only the events of the device's process.
//
//   ASSIGN_OR_RETURN(auto whole, JoinProcesses(parts));
//   for (const Process& p : ProcessesOf(*whole)) Show(p.name, OfDevice(whole, p.devices.front()));
//
// Pure functions of immutable traces; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

inline constexpr int kProcessShift = 24;      // bits of a thread below the process number
inline constexpr int kCorrelationShift = 56;  // bits of a correlation below the process number
inline constexpr uint64_t kCorrelationBits = (uint64_t{1} << kCorrelationShift) - 1;
constexpr uint8_t ProcessOfThread(uint32_t thread) {
  return static_cast<uint8_t>(thread >> kProcessShift);
}

struct Process {
  uint8_t number = 0;
  std::string name;                   // "rank 3"
  std::string host = {};              // the computer's name; "": unknown
  int64_t clock_offset_ns = 0;        // the process's time 0, on the clock of the trace
  std::vector<uint8_t> devices = {};  // ascending
};

// A process marker is "process", followed by lines with the name, the host ("": unknown) and the
// offset of the process's clock. The device and thread of the marker's event show the process's
// device and number. Older files only have the name.
bool IsProcessMarker(std::string_view marker);

// The processes that the trace names; empty: the whole trace belongs to one process.
std::vector<Process> ProcessesOf(const Trace& trace);
// The display name of a device: "rank 3", "rank 3, cuda:1", "cuda:3"; with processes on several
// hosts, "rank 3 (node7)".
std::string NameOfDevice(const Trace& trace, uint8_t device);

struct ProcessTrace {
  std::string name;
  std::shared_ptr<const Trace> trace;
  int64_t begin_ns = 0;   // the trace's time 0, on a clock that all parts share
  std::string host = {};  // see Process::host
};

// Joins the parts into one trace, with devices numbered in order and one clock that begins with the
// first event. The trace information is that of the first part. A single part is returned
// unchanged; parts without memory are left out. kResourceExhausted: more than 256 devices.
absl::StatusOr<std::shared_ptr<const Trace>> JoinProcesses(std::span<const ProcessTrace> parts);

}  // namespace vramscope::trace
