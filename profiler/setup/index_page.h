// A project's page of a Python package index, as HTML (PEP 503) or JSON (PEP 691): where the file
// of a pinned wheel is.
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

// The link as it stands on the page: absolute, or relative to it; without the part behind '#'. The
// file with the wheel's hash, else the one with its name (a mirror need not tell hashes; they are
// checked when the file is here). kNotFound: the page has neither.
absl::StatusOr<std::string> FindWheel(std::string_view page, const Wheel& wheel);

}  // namespace vramscope::setup
