// Entry function for the marks that a watched program's hooks write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void ProgramMarks(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
