// vramscope's version: CMakeLists.txt says it, nobody else.
#pragma once

namespace vramscope::base {

const char* Version();   // "0.2.0"
const char* Producer();  // "vramscope 0.2.0": what traces say of who wrote them

}  // namespace vramscope::base
