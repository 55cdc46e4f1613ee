// The techniques and optimizers that this build declares. This header does not use LibTorch.
#pragma once

#include "profiler/run/catalogue.h"

namespace vramscope::trainer {

// The contents of resources/catalogue.json.
run::Catalogue DeclaredCatalogue();

}  // namespace vramscope::trainer
