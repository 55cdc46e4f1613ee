// What the fuzzers of this folder call with arbitrary bytes; the same functions run over the corpus
// as plain tests. They must not crash, hang, or take memory out of proportion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::fuzz {

// Bytes as a stream of frames, then as a whole trace.
void Trace(const uint8_t* data, size_t size);
// Bytes as the payload of an event batch, behind any checksum. Bytes that pass are written again
// and must come back the same.
void Batch(const uint8_t* data, size_t size);
// Likewise of an activity batch.
void Activities(const uint8_t* data, size_t size);
// Bytes as a file: what its index says of it, and a part of it that is found by the index.
void TraceOutline(const uint8_t* data, size_t size);

// What every trace promises, however damaged its file was.
void CheckTrace(const trace::Trace& trace);

// A fuzzer cannot guess checksums: sets them right in every envelope of a frame, so that damage
// gets further inside than the frame decoder.
std::string WithRightChecksums(std::string bytes);

}  // namespace vramscope::fuzz
