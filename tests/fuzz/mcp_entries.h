// Entry function over what a client of the Model Context Protocol sends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Cut into lines in pieces as into one, and every line read as JSON-RPC.
void Mcp(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
