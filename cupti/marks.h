// The file of a process's marks (profiler/program/marks.h): lines of text. A written line
// stays in the file even if the process dies. While the process runs, zeros follow the last
// line.
//
//   MarksFile& file = MarksFile::The();
//   file.Begin(path, clock);
//   const int64_t arguments[] = {name};
//   file.Put('M', device, requests, file.Now(), arguments);
//   file.End();
//
// Thread-safe. A forked child writes nothing.
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

  // If `clock` is null, uses CLOCK_REALTIME, as the allocator's history entries do. Returns false
  // if the file cannot be created.
  bool Begin(const char* path, Clock clock);
  void End();
  // Stops writing. Called in a forked child.
  void Silence() { on_.store(false, std::memory_order_relaxed); }

  bool on() const { return on_.load(std::memory_order_relaxed); }
  // Returns whether writing has stopped because the file had no space for a line.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  int64_t Now() const;

  void Put(char kind, int device, uint64_t requests, int64_t time_ns,
           std::span<const int64_t> arguments);
  void PutText(std::string_view line);  // without the newline

 private:
  static constexpr size_t kLongestLine = 256;

  uint32_t Thread();  // call with mutex_ locked
  void Append(std::string_view line);

  std::mutex mutex_;
  MappedFile file_;
  size_t used_ = 0;
  uint32_t begun_ = 0;    // number of files so far
  uint32_t threads_ = 0;  // threads with marks in the current file
  Clock clock_ = nullptr;
  std::atomic<bool> on_{false}, failed_{false};
};

}  // namespace vramscope::cupti
