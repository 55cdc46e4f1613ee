// Reads the allocator's history of one process. The hooks in the process write it in chunks. These
// are joined to one recording, which begins with empty memory.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "profiler/recording/recording.h"

namespace vramscope::program {

struct HistoryOptions {
  // Folders of the hooks' source files. A frame in one of these does not belong to the program.
  std::vector<std::string> own_folders = {};
  const std::atomic<bool>* cancel = nullptr;
};

// Reads FOLDER/history-000000.pickle and the following chunks. An unreadable chunk ends the
// history, with a warning. kNotFound: there are no chunks.
absl::StatusOr<recording::Recording> ReadHistory(const std::string& folder,
                                                 const HistoryOptions& options);

// Reads the history while the program still writes it. Every call reads the chunks that were added
// since the last one.
class HistoryReader {
 public:
  explicit HistoryReader(HistoryOptions options);
  ~HistoryReader();
  HistoryReader(HistoryReader&&) noexcept;
  HistoryReader& operator=(HistoryReader&&) noexcept;

  // Returns a status as ReadHistory does. After an error other than kNotFound, reads nothing more.
  absl::Status ReadMore(const std::string& folder);
  const recording::Recording& recording() const;
  uint32_t chunks() const;

  // Returns the history, including any entries after the last chunk (history_tail.h). An entry has
  // no stack if its stack was not written yet. The segments are those after the last entry.
  // kNotFound: there are neither chunks nor entries. Sets `operators` to the operator that made
  // each entry, as a string of the recording, or to {} if the operators are unknown.
  absl::StatusOr<recording::Recording> WithTail(
      const std::string& folder, std::vector<trace::StringId>* operators = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::program
