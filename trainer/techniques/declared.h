// What the techniques and optimizers of this build declare. Free of LibTorch.
#pragma once

#include "profiler/run/catalogue.h"

namespace vramscope::trainer {

// What resources/catalogue.json holds.
run::Catalogue DeclaredCatalogue();

}  // namespace vramscope::trainer
