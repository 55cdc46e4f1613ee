// The unit that libvramscope-emulated.so is made of beside the core: the platform is there as soon
// as the library is loaded, so that what is wrong with the environment is said once and early.
#include "emulated/core/platform.h"

namespace {

[[gnu::constructor]] void Load() { vramscope::emulated::ThePlatform(); }

}  // namespace
