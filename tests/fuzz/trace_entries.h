// The functions that this folder's fuzzers call with arbitrary bytes. Plain tests call the same
// functions with the corpus. They must not crash, hang, or use a disproportionate amount of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::fuzz {

// Reads the bytes as a stream of frames, then as a whole trace.
void Trace(const uint8_t* data, size_t size);
// Reads the bytes as the payload of an event batch with a valid checksum. Accepted events must stay
// the same if they are written and read again.
void Batch(const uint8_t* data, size_t size);
// Like Batch(), for an activity batch.
void Activities(const uint8_t* data, size_t size);
// Reads the bytes as a file: first the index, then a part that is located with the index.
void TraceOutline(const uint8_t* data, size_t size);

// Checks the invariants of every trace, even from a damaged file.
void CheckTrace(const trace::Trace& trace);

// Corrects the checksums of all frames. A fuzzer cannot guess checksums, so damage would not reach
// the code after the frame decoder otherwise.
std::string WithRightChecksums(std::string bytes);

}  // namespace vramscope::fuzz
