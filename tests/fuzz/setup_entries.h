// Entry functions for downloaded data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Tests profiler/setup/zip_reader.h. The input is an archive.
void Zip(const uint8_t* data, size_t size);

// Tests profiler/setup/index_page.h. The input is a page.
void IndexPage(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
