// Lists a folder while other processes change it. (In a range-for over std::filesystem's iterators,
// operator++ throws if an entry or the folder is removed during the iteration.)
#pragma once

#include <absl/functional/function_ref.h>

#include <filesystem>
#include <system_error>

namespace vramscope::program {

// Calls the function for each direct entry of `folder`, in no particular order. Returns an error if
// the folder cannot be opened. If the folder is removed during the iteration, the iteration ends.
//
//   std::error_code error = ForEachEntry("/proc/self/task", [&](const auto& task) { ... });
//
// May be called on any thread.
std::error_code ForEachEntry(
    const std::filesystem::path& folder,
    absl::FunctionRef<void(const std::filesystem::directory_entry&)> visit);

}  // namespace vramscope::program
