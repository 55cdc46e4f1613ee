// A trace of several processes (the ranks of a program), each with devices of its own. What belongs
// to a process and not to a device (steps, phases, modules, ranges) says whose it is in the upper
// bits of its thread; a marker for every device, at the beginning, says which process it is of.
// OfDevice keeps what is of the device's process alone.
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

inline constexpr int kProcessShift = 24;      // of a thread: below it the process's own number
inline constexpr int kCorrelationShift = 56;  // of an activity's correlation, likewise
inline constexpr uint64_t kCorrelationBits = (uint64_t{1} << kCorrelationShift) - 1;
constexpr uint8_t ProcessOfThread(uint32_t thread) {
  return static_cast<uint8_t>(thread >> kProcessShift);
}

struct Process {
  uint8_t number = 0;
  std::string name;                   // "rank 3"
  std::string host = {};              // the computer's name; "": not known
  int64_t clock_offset_ns = 0;        // its own time 0, on the clock of the trace
  std::vector<uint8_t> devices = {};  // ascending
};

// "process", and behind a line's end each the name, the host ("": not known) and the offset of its
// clock: of the device and thread of the marker. Older files have the name alone.
bool IsProcessMarker(std::string_view marker);

// Those that the trace says; empty: all of it is one process's.
std::vector<Process> ProcessesOf(const Trace& trace);
// What the device is called: "rank 3", "rank 3, cuda:1", "cuda:3"; of processes of several hosts
// "rank 3 (node7)".
std::string NameOfDevice(const Trace& trace, uint8_t device);

struct ProcessTrace {
  std::string name;
  std::shared_ptr<const Trace> trace;
  int64_t begin_ns = 0;   // of the trace's time 0, on a clock that all of them have
  std::string host = {};  // as Process::host
};

// One trace of all, their devices numbered in order, on one clock that begins with the first.
// Information is the first one's. A single part stays as it is. kResourceExhausted: more than 256
// devices; parts without memory are left out.
absl::StatusOr<std::shared_ptr<const Trace>> JoinProcesses(std::span<const ProcessTrace> parts);

}  // namespace vramscope::trace
