// Entry functions, which fuzzers call with arbitrary bytes and corpus_test.cpp with the corpus.
// They must not crash, hang, or use much more memory than the input has bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::fuzz {

// Reads the bytes as a stream of frames, then as a whole trace.
void Trace(const uint8_t* data, size_t size);
// Reads the bytes as the payload of an event batch with a valid checksum. Events that are accepted
// must not change when they are written and read again.
void Batch(const uint8_t* data, size_t size);
// Like Batch(), for an activity batch.
void Activities(const uint8_t* data, size_t size);
// Reads the bytes as a file: first the index, then a part of the trace, which is found with the
// index.
void TraceOutline(const uint8_t* data, size_t size);

// Checks what must hold for every trace, even if it was read from a damaged file.
void CheckTrace(const trace::Trace& trace);

// Corrects the checksums of all frames. A fuzzer cannot guess checksums. Without this, its inputs
// would never get past the frame decoder.
std::string WithRightChecksums(std::string bytes);

}  // namespace vramscope::fuzz
