// The banner for a plan that does not fit its GPU.
#pragma once

#include <functional>
#include <optional>

#include "ui/panels/rows.h"
#include "ui/shell/header_bar.h"

namespace vramscope::ui {

inline constexpr const char* kFitBanner = "does-not-fit";  // Banner::Message::kind

// Returns nullopt if the run fits or the GPU's memory is unknown. Also returns nullopt for a
// recording: if it did not fit, it contains an out-of-memory event. The banner's button calls
// `make_it_fit`.
std::optional<Banner::Message> FitBanner(const Digest& digest, std::function<void()> make_it_fit);

}  // namespace vramscope::ui
