// What the environment says: read when the first library of the platform is loaded, cards again
// by a fork that plans for others (vramscope_emulated_reread_cards).
//
//   VRAMSCOPE_EMULATED_CARD       one line a card (card.h)
//   VRAMSCOPE_EMULATED_DEVICES    that many cards; the last line counts for the rest
//   VRAMSCOPE_EMULATED_PLACEMENT  descending (default, as Linux) or ascending (Windows, WSL)
//   VRAMSCOPE_EMULATED_OUTPUT     folder for platform-<pid>.json
//   VRAMSCOPE_EMULATED_LOG        file, or - for standard error
//   VRAMSCOPE_EMULATED_ROOMS      folder that the processes of a run have in common
#pragma once

#include <string>
#include <vector>

#include "emulated/core/addresses.h"
#include "emulated/core/card.h"

namespace vramscope::emulated {

struct Settings {
  std::vector<Card> cards;
  Placement placement = Placement::kDescending;
  std::string output;
  std::string log;
  std::string rooms;
};

// Says on standard error what is wrong with the environment; there are no cards then.
Settings SettingsFromEnvironment();

}  // namespace vramscope::emulated
