// How GPUs of one kind reach each other's memory, as the device table has it.
//
//   if (PeersOf("rtx-4090") == Peers::kNone) ...  // by way of the host alone
#pragma once

#include <string_view>

namespace vramscope::run {

enum class Peers { kNone = 0, kPcie = 1, kNvlink = 2 };

// `device` is a key of the table; kPcie of others.
Peers PeersOf(std::string_view device);

}  // namespace vramscope::run
