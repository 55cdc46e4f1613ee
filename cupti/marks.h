// The file of a process's marks (profiler/program/marks.h): lines of text, each there at the moment
// at which it is put, whatever becomes of the process. While the process lives the file goes on
// behind the last line with zeros.
//
//   MarksFile& file = MarksFile::The();
//   file.Begin(path, clock);
//   file.Put('M', device, requests, file.Now(), {name});
//   file.End();
//
// Thread-safe. A child of a fork puts nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "cupti/mapped_file.h"

namespace vramscope::cupti {

class MarksFile {
 public:
  using Clock = uint64_t (*)();

  static MarksFile& The();

  // `clock`: null for that of the allocator's entries (CLOCK_REALTIME). False: it can't be made.
  bool Begin(const char* path, Clock clock);
  void End();
  // Nothing more is put: a child of a fork.
  void Silence() { on_.store(false, std::memory_order_relaxed); }

  bool on() const { return on_.load(std::memory_order_relaxed); }
  // There was no room for a line; nothing is put any more.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  int64_t Now() const;

  void Put(char kind, int device, uint64_t requests, int64_t time_ns,
           std::span<const int64_t> arguments);
  void PutText(std::string_view line);  // without its end

 private:
  static constexpr size_t kLongestLine = 256;

  uint32_t Thread();  // under the mutex
  void Append(std::string_view line);

  std::mutex mutex_;
  MappedFile file_;
  size_t used_ = 0;
  uint32_t begun_ = 0;    // files so far
  uint32_t threads_ = 0;  // of the present file
  Clock clock_ = nullptr;
  std::atomic<bool> on_{false}, failed_{false};
};

}  // namespace vramscope::cupti
