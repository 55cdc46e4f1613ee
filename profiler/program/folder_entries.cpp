#include "profiler/program/folder_entries.h"

namespace vramscope::program {

namespace fs = std::filesystem;

std::error_code ForEachEntry(const fs::path& folder,
                             absl::FunctionRef<void(const fs::directory_entry&)> visit) {
  std::error_code error, ended;
  for (fs::directory_iterator entry(folder, error), end; !error && !ended && entry != end;
       entry.increment(ended))
    visit(*entry);
  return error;
}

}  // namespace vramscope::program
