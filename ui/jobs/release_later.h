// Frees something large on a thread of the pool: a digest or the indexes of ten million events take
// longer to free than a frame may take.
//
//   ReleaseLater(std::exchange(shown_, next));
//
// UI thread only.
#pragma once

#include <memory>

namespace vramscope::ui {

// After a moment: whoever else holds it has the next by then, and the last reference is this one.
void ReleaseLater(std::shared_ptr<const void> what);

}  // namespace vramscope::ui
