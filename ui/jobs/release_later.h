// Frees a large object on a thread of the pool, because freeing a digest or the indexes of ten
// million events takes longer than one frame.
//
//   ReleaseLater(std::exchange(shown_, next));
//
// UI thread only.
#pragma once

#include <memory>

namespace vramscope::ui {

// Releases `what` after 50 ms. By then, all other owners have usually released it, so that `what`
// is the last reference.
void ReleaseLater(std::shared_ptr<const void> what);

}  // namespace vramscope::ui
