// A trace of several processes (the ranks of a program), each with its own devices. Events that
// belong to a process and not to a device (steps, phases, modules, ranges) have the process number
// in the upper bits of their thread. The trace begins with one marker for each device; the marker
// names the device's process. OfDevice keeps only the events of the device's process.
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
// offset of the process's clock. Older files only have the name. The device and thread of the
// marker's event are the process's device and number.
bool IsProcessMarker(std::string_view marker);

// Returns the processes that the trace names. Empty if the whole trace belongs to one process.
std::vector<Process> ProcessesOf(const Trace& trace);
// Returns a device's display name: "rank 3", "rank 3, cuda:1", "cuda:3"; with processes on several
// hosts, "rank 3 (node7)".
std::string NameOfDevice(const Trace& trace, uint8_t device);

struct ProcessTrace {
  std::string name;
  std::shared_ptr<const Trace> trace;
  int64_t begin_ns = 0;   // the trace's time 0, on a clock that all parts share
  std::string host = {};  // see Process::host
};

// Joins the parts into one trace. Numbers the devices in order; time 0 is the first event of any
// part. The trace information comes from the first part. A single part is returned unchanged, and
// parts without memory are left out. kResourceExhausted: more than 256 devices.
absl::StatusOr<std::shared_ptr<const Trace>> JoinProcesses(std::span<const ProcessTrace> parts);

}  // namespace vramscope::trace
