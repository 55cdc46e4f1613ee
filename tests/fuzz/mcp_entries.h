// Entry function for messages of a Model Context Protocol client.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reading in pieces must return the same lines as reading at once. Every line is parsed as
// JSON-RPC.
void Mcp(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
