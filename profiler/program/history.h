// The allocator's history of one process. Its chunks, which the process's hooks wrote, are joined
// to one recording that begins with empty memory.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "profiler/recording/recording.h"

namespace vramscope::program {

struct HistoryOptions {
  // Folders of the hooks' own source files: a stack frame in one of them is not the program's.
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

  // Returns the statuses of ReadHistory. After an error other than kNotFound nothing more is read.
  absl::Status ReadMore(const std::string& folder);
  const recording::Recording& recording() const;
  uint32_t chunks() const;

  // The history including the entries after the last chunk (history_tail.h), if there are any. An
  // entry whose stack was not written yet has none. The segments are in the state after the last
  // entry. kNotFound: there are neither chunks nor entries. `operators` receives the operator that
  // allocated for every entry, as a string of the recording; it is empty if unknown.
  absl::StatusOr<recording::Recording> WithTail(
      const std::string& folder, std::vector<trace::StringId>* operators = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::program
