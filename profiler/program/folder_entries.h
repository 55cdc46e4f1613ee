// What a folder holds while others write to it: names come and go, folders vanish while they are
// read. A range-for over std::filesystem's iterators throws then, from its ++.
#pragma once

#include <absl/functional/function_ref.h>

#include <filesystem>
#include <system_error>

namespace vramscope::program {

// Each entry of `folder` itself, in no order; the folder's own error where it cannot be opened.
// One that ends while it is read has no more entries.
//
//   std::error_code error = ForEachEntry("/proc/self/task", [&](const auto& task) { ... });
//
// Any thread.
std::error_code ForEachEntry(
    const std::filesystem::path& folder,
    absl::FunctionRef<void(const std::filesystem::directory_entry&)> visit);

}  // namespace vramscope::program
