// Lets go of something large on a pool's thread: a digest or the indexes of ten million events take
// longer to take apart than a frame may take.
//
//   LetGo(std::exchange(shown_, next));
//
// UI thread only.
#pragma once

#include <memory>

namespace vramscope::ui::timeline {

// A moment later: whoever else had it has the next by then, and the last to let go pays.
void LetGo(std::shared_ptr<const void> what);

}  // namespace vramscope::ui::timeline
