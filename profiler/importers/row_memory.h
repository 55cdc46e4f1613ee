// The bytes that a row needs until its trace is built, for trace::MemoryBudget. They include its
// columns (in the importer's tables, the History and the Trace), the growth of vectors, and the
// data of inference. Rounded up. Internal.
#pragma once

#include <cstdint>

namespace vramscope::importers {

inline constexpr uint64_t kMemoryOfEntry = 160;
inline constexpr uint64_t kMemoryOfAlloc = 260;     // an allocation, in addition to its entry
inline constexpr uint64_t kMemoryOfBareEntry = 48;  // an entry outside the requested range
// Added to the bytes of the entry for an allocation outside the requested range.
inline constexpr uint64_t kMemoryOfBareAlloc = 120;
inline constexpr uint64_t kMemoryOfBlock = 128;
inline constexpr uint64_t kMemoryOfUsedBlock = 420;  // in addition to kMemoryOfBlock
inline constexpr uint64_t kMemoryOfSegment = 320;
inline constexpr uint64_t kMemoryOfAnnotation = 420;
inline constexpr uint64_t kMemoryOfFrame = 120;
inline constexpr uint64_t kMemoryOfStack = 64;  // plus, for each of its frames:
inline constexpr uint64_t kMemoryOfStackFrame = 16;
inline constexpr uint64_t kMemoryOfString = 160;  // plus, for each of its bytes:
inline constexpr uint64_t kMemoryOfStringByte = 4;
inline constexpr uint64_t kMemoryOfSpan = 900;  // an operator or module: two events and a slice
inline constexpr uint64_t kMemoryOfPythonSpan = 80;
inline constexpr uint64_t kMemoryOfWork =
    420;  // a kernel, memcpy or API call, in the tables and as an activity
inline constexpr uint64_t kMemoryOfLaunch = 120;

}  // namespace vramscope::importers
