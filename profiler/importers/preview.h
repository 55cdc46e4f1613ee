// Shows a recording while it loads. The view is updated each time the recording has doubled, if
// that slows the loading only a little. Internal to this folder.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/importers/open.h"
#include "profiler/recording/recording.h"

namespace vramscope::importers {

class Preview {
 public:
  Preview(std::string title, const OpenOptions& options)
      : title_(std::move(title)), options_(options) {}

  // Calls options.preview if it is due.
  void Show(const recording::Recording& so_far);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string title_;
  const OpenOptions& options_;
  uint64_t next_entries_ = 20'000;
  Clock::time_point next_time_ = Clock::time_point::min();
};

struct SnapshotOptions;
// Returns the options with which ReadSnapshot opens a file. `preview` must outlive the reading.
SnapshotOptions SnapshotOptionsFor(std::string_view head, const std::string& path,
                                   const OpenOptions& options, Preview& preview);

}  // namespace vramscope::importers
