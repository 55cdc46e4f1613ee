// What the user did last in the timeline: selected a thing, drew a range or placed the cursor.
#pragma once

#include <cstdint>

namespace vramscope::ui::timeline {

enum class Chosen : uint8_t { kNothing, kThing, kRange, kCursor };

}  // namespace vramscope::ui::timeline
