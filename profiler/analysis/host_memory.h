// Computes curves, peak and call sites of the pinned and managed host memory that the programs of a
// trace allocated through CUDA. Pageable memory, even if it is registered (cudaHostRegister), and
// memory that processes share (the batches of a data loader's workers) are not included, because
// CUDA does not report them. The sizes are those of the driver's calls. PyTorch's host allocator
// rounds each allocation up to a power of two, and keeps it when the tensor is freed.
// Memory allocated before the trace begins is unknown.
//
//   const HostMemory host = HostMemoryOf(trace);
//   if (host.recorded) Show(host.peak, host.peak_ns);
//
// If the trace lacks some or all of the driver's allocations, `recorded` is false, and everything
// else is empty. Plans with --no-activities lack them, because CUPTI records them. The embedded
// loop does not record host allocations. A memcpy that copies more pinned memory than was ever
// allocated shows that memory was pinned before the recording began. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/activity.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

struct HostMemory {
  struct Curve {
    trace::MemorySpace space = trace::MemorySpace::kPinned;
    std::vector<int64_t> time_ns;  // when the bytes change
    std::vector<uint64_t> bytes;   // the bytes from that time on
  };
  // How much memory of one space (pinned or managed) one call site has allocated at the peak.
  struct Site {
    // For example "train.py:88 main > aten::_pin_memory". If line and operator are unknown, it is
    // the name of a library or of an API call.
    std::string name;
    // The line of Python code, which plans of programs record. `file` is "" if it is unknown.
    std::string file, function;
    uint32_t line = 0;
    std::string op;  // "": unknown
    trace::MemorySpace space = trace::MemorySpace::kPinned;
    uint64_t bytes = 0, count = 0;
  };
  bool recorded = false;      // whether the trace contains the driver's allocations
  std::vector<Curve> curves;  // one for each space that occurs
  uint64_t peak = 0;          // the highest sum over all processes and spaces
  int64_t peak_ns = 0;
  std::vector<Site> sites;  // most bytes first
};

// Reads every activity twice.
HostMemory HostMemoryOf(const trace::Trace& trace);

// Returns for example "4.00 GiB pinned at train.py:88 main > aten::_pin_memory", translated.
std::string SiteText(const HostMemory::Site& site);

// The line of code in the name of an allocation such as "/home/me/train.py:88 main".
struct CodeLine {
  std::string_view file, function;
  uint32_t line = 0;
};
// Returns nullopt for other names, such as those of libraries.
std::optional<CodeLine> ParseCodeLine(std::string_view name);

}  // namespace vramscope::analysis
