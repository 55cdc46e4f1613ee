// Creates the platform when libvramscope-emulated.so is loaded, so that errors in the environment
// are reported early and only once. Only that library contains this file.
#include "emulated/core/platform.h"

namespace {

[[gnu::constructor]] void Load() { vramscope::emulated::ThePlatform(); }

}  // namespace
