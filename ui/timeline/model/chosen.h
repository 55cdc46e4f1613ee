// What the user selected, drew or placed last in the timeline.
#pragma once

#include <cstdint>

namespace vramscope::ui::timeline {

enum class Chosen : uint8_t { kNothing, kThing, kRange, kCursor };

}  // namespace vramscope::ui::timeline
