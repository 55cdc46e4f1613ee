// Entry function for messages of a Model Context Protocol client.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads the bytes in one piece and in several pieces. Both must give the same lines. Parses each
// line as JSON-RPC.
void Mcp(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
