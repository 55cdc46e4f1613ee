// What is said where a plan does not fit its GPU.
#pragma once

#include <functional>
#include <optional>

#include "ui/panels/rows.h"
#include "ui/shell/header_bar.h"

namespace vramscope::ui {

inline constexpr const char* kFitBanner = "does-not-fit";  // its kind

// Nothing of a run that fits, of a recording, which did fit or says itself that it did not, or of a
// GPU of unknown memory. `make_it_fit`: what its button does.
std::optional<Banner::Message> FitBanner(const Digest& digest, std::function<void()> make_it_fit);

}  // namespace vramscope::ui
