// Says how GPUs of one kind access each other's memory. The source is the device table.
//
//   if (PeersOf("rtx-4090") == Peers::kNone) ...  // only through the host
#pragma once

#include <string_view>

namespace vramscope::run {

enum class Peers { kNone = 0, kPcie = 1, kNvlink = 2 };

// `device` is a key of the table; kPcie for devices that are not in it.
Peers PeersOf(std::string_view device);

}  // namespace vramscope::run
