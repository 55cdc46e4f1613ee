#include "profiler/base/version.h"

namespace vramscope::base {

const char* Version() { return VRAMSCOPE_VERSION; }
const char* Producer() { return "vramscope " VRAMSCOPE_VERSION; }

}  // namespace vramscope::base
