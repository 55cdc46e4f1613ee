// Computes CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected) as in iSCSI (RFC 3720, B.4). Uses
// the SSE 4.2 instruction if the processor has it. Used only in the project's own formats.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::trace {

// Computes the checksum of `bytes`. `crc`: the checksum of the bytes before them, if any.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);
// Computes the same checksum without the SSE instruction.
uint32_t Crc32cPortable(std::string_view bytes, uint32_t crc = 0);

}  // namespace vramscope::trace
