// The functions that fuzzers of this folder call with arbitrary bytes; the same functions run over
// the corpus as plain tests. They must not crash, hang, or use a disproportionate amount of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::fuzz {

// Reads the bytes as a stream of frames, then as a whole trace.
void Trace(const uint8_t* data, size_t size);
// Reads the bytes as the payload of an event batch, behind a valid checksum. Accepted bytes are
// written and read again, with the same result.
void Batch(const uint8_t* data, size_t size);
// Likewise for an activity batch.
void Activities(const uint8_t* data, size_t size);
// Reads the bytes as a file: the contents of its index, and a part that is found with the index.
void TraceOutline(const uint8_t* data, size_t size);

// Invariants of every trace, however damaged its file is.
void CheckTrace(const trace::Trace& trace);

// A fuzzer cannot guess checksums: this corrects those of every frame, so that damage reaches the
// code after the frame decoder.
std::string WithRightChecksums(std::string bytes);

}  // namespace vramscope::fuzz
