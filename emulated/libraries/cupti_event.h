// A record before it is written into the program's buffer. Times are nanoseconds of the host's real
// clock, or of the virtual clock if the program has registered that clock.
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
  Activity activity;  // for synchronisations and memory, only device, stream, bytes and to are set
  uint32_t callback = 0, thread = 0, external_kind = 0;
  uint64_t external = 0;
  uint64_t address = 0;        // used by kMemory2
  uint64_t caller = 0;         // used by kMemory2
  bool allocated = true;       // used by kMemory2
  const char* site = nullptr;  // kMemory2: the line of Python code that allocated host memory
  uint32_t value = 0;          // kEnvironment: MHz; kOperands: index of the first operand
};

// A linear function from the host's clock to the program's clock. Both clocks are sampled when the
// program registers its clock and when records are delivered.
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

// Returns the id that a stream has in records. `stream` is StreamFacts::id.
uint32_t RecordsStreamId(uint64_t stream);
// Returns the size of a record, or 0 if the kind is not supported.
size_t SizeOf(uint32_t kind);
void Format(const Event& event, const Scale& time, uint8_t* to);

// The domain and number of a call, and the version in which its interface was introduced.
struct CallFacts {
  uint32_t kind;  // kRuntime or kDriver
  uint32_t callback;
  const char* interface;
};
const CallFacts& FactsOf(Call call);
// Returns for example "cudaLaunchKernel_v7000", or null if no call above has this number.
const char* NameOf(uint32_t domain, uint32_t callback);

}  // namespace vramscope::emulated::cupti
