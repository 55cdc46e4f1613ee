// Entry function for messages of a Model Context Protocol client.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Splitting in pieces must give the same lines as splitting at once; every line is parsed as
// JSON-RPC.
void Mcp(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
