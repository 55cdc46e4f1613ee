// Entry functions for downloaded data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// profiler/setup/zip_reader.h: the input is an archive.
void Zip(const uint8_t* data, size_t size);

// profiler/setup/index_page.h: the input is a page.
void IndexPage(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
