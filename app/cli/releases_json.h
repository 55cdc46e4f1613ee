// Why memory went back to the device, and the card that follows from it, as JSON.
#pragma once

#include "app/cli/command.h"
#include "profiler/replay/releases.h"

namespace vramscope::cli {

Json ReleasesJson(const replay::Releases& releases);
Json CardJson(const replay::Card& card);  // null: unknown

}  // namespace vramscope::cli
