// vramscope's version, defined in CMakeLists.txt.
#pragma once

namespace vramscope::base {

const char* Version();   // "0.2.0"
const char* Producer();  // "vramscope 0.2.0": the producer of traces

}  // namespace vramscope::base
