// What the user has chosen last in the timeline: a thing (by selecting it), a range or the cursor.
#pragma once

#include <cstdint>

namespace vramscope::ui::timeline {

enum class Chosen : uint8_t { kNothing, kThing, kRange, kCursor };

}  // namespace vramscope::ui::timeline
