// Finds the link of a pinned wheel in a project's page of a Python package index, as HTML (PEP 503)
// or JSON (PEP 691).
//
//   ASSIGN_OR_RETURN(std::string link, FindWheel(page, wheel));  // resolve against the page's URL
//
// Pure function; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/setup/wheels.h"

namespace vramscope::setup {

inline constexpr size_t kMostIndexPage = size_t{32} << 20;

// Returns the link as written on the page, absolute or relative, but without '#' and what follows.
// Prefers a file with the wheel's hash. Otherwise the wheel's name suffices: mirrors may omit
// hashes, and the download is checked anyway. kNotFound: the page has neither.
absl::StatusOr<std::string> FindWheel(std::string_view page, const Wheel& wheel);

}  // namespace vramscope::setup
