// A record before it is written into the program's buffer: times in nanoseconds, of the host's real
// clock or, for who registered it, the virtual one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cupti/records.h"
#include "emulated/core/recorder.h"

namespace vramscope::emulated::cupti {

using namespace vramscope::cupti;  // NOLINT: the records' names

struct Event {
  uint32_t kind = 0, correlation = 0;
  int64_t start = 0, end = 0;
  Activity activity;  // of a synchronisation and of memory: device, stream, bytes, to
  uint32_t callback = 0, thread = 0, external_kind = 0;
  uint64_t external = 0;
  uint64_t address = 0;   // kMemory2
  uint64_t caller = 0;    // likewise
  bool allocated = true;  // likewise
  uint32_t value = 0;     // kEnvironment: MHz; kOperands: the first of them
};

// The program's clock as a line over the host's: sampled when it was registered and when records
// are delivered.
struct Scale {
  int64_t host = 0;
  uint64_t program = 0;
  double rate = 1;
  uint64_t operator()(int64_t ns) const {
    return rate == 1 && program == 0 ? static_cast<uint64_t>(ns)
                                     : program + static_cast<uint64_t>(static_cast<int64_t>(
                                                     static_cast<double>(ns - host) * rate));
  }
};

// What records call a stream, by StreamFacts::id.
uint32_t RecordsStreamId(uint64_t stream);
// Of a record; 0: there are none of that kind.
size_t SizeOf(uint32_t kind);
void Format(const Event& event, const Scale& time, uint8_t* to);

// By which number of which domain a call is known, and since which version there is its interface.
struct CallFacts {
  uint32_t kind;  // kRuntime or kDriver
  uint32_t callback;
  const char* interface;
};
const CallFacts& FactsOf(Call call);
// "cudaLaunchKernel_v7000"; null: none of the above has the number.
const char* NameOf(uint32_t domain, uint32_t callback);

}  // namespace vramscope::emulated::cupti
