// The allocator's history of one process: the chunks that its hooks wrote while it ran, put
// together as one recording that begins with nothing in memory.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "profiler/recording/recording.h"

namespace vramscope::program {

struct HistoryOptions {
  // Frames of files in these folders are the watcher's own and not the program's.
  std::vector<std::string> own_folders = {};
  const std::atomic<bool>* cancel = nullptr;
};

// Reads FOLDER/history-000000.pickle and the ones after it. A chunk that cannot be read ends the
// history there, with a warning; kNotFound: there is none at all.
absl::StatusOr<recording::Recording> ReadHistory(const std::string& folder,
                                                 const HistoryOptions& options);

// The same while the program still writes it: every call takes the chunks that have come since.
class HistoryReader {
 public:
  explicit HistoryReader(HistoryOptions options);
  ~HistoryReader();
  HistoryReader(HistoryReader&&) noexcept;
  HistoryReader& operator=(HistoryReader&&) noexcept;

  // Statuses as above; after one that is not kNotFound nothing more is read.
  absl::Status ReadMore(const std::string& folder);
  const recording::Recording& recording() const;
  uint32_t chunks() const;

  // The same with what came after the last chunk (history_tail.h), if there is any: entries without
  // stacks, and the segments as they are behind the last of them. kNotFound: neither chunk nor
  // entry.
  // `operators`: of every entry the one that asked, as its number in the strings; {}: not known.
  absl::StatusOr<recording::Recording> WithTail(
      const std::string& folder, std::vector<trace::StringId>* operators = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::program
