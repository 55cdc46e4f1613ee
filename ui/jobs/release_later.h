// Frees a large object on a thread of the pool, because freeing a digest or the indexes of ten
// million events takes longer than one frame.
//
//   ReleaseLater(std::exchange(shown_, next));
//
// UI thread only.
#pragma once

#include <memory>

namespace vramscope::ui {

// Waits 50 ms first: by then other owners have usually replaced their references, and this one is
// the last.
void ReleaseLater(std::shared_ptr<const void> what);

}  // namespace vramscope::ui
