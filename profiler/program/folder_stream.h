// Sends a program's output folder (program.h) through a pipe while the program still writes to it.
// `record --host` uses it to send a recording from the remote computer. The stream consists of
// frames (trace/frame.h), so truncation and damage are detected.
//
//   FolderSender sender(folder, write);          // on the remote computer
//   sender.Begin();
//   while (runs) sender.SendNew();
//   sender.End(outcome);
//
//   FolderReceiver receiver(empty_folder);       // on this computer
//   while (read(...)) RETURN_IF_ERROR(receiver.Take(bytes));
//   if (receiver.outcome()) ...                  // else the connection broke before the end
//
// Received data is untrusted: only plain file names are accepted, files are written only to the
// folder, and their size is limited. One thread at a time.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/program/launch.h"
#include "profiler/trace/frame.h"

namespace vramscope::program {

class FolderSender {
 public:
  // A Write must write all bytes or return an error. After an error nothing more is sent.
  using Write = std::function<absl::Status(std::string_view bytes)>;
  FolderSender(std::string folder, Write write);

  absl::Status Begin();
  // Sends what the program has written since the last call: the new part of a file that only grows,
  // and all of any other file that changed.
  absl::Status SendNew();
  // Sends what remains when the program has ended, including the tails of a killed program
  // (history_tail.h, activity_tail.h).
  absl::Status End(const Outcome& outcome);

 private:
  struct Sent {
    uint64_t bytes = 0;       // size of the file when it was last sent
    int64_t changed_ns = -1;  // its modification time; set only for a file that is replaced
  };
  absl::Status Send(bool tails);
  absl::Status SendFile(const std::string& path);  // relative to the folder

  std::string folder_;
  Write write_;
  std::map<std::string, Sent> sent_;
};

class FolderReceiver {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 30;
  static constexpr size_t kMostFiles = size_t{1} << 16;
  explicit FolderReceiver(std::string folder, uint64_t most_bytes = kMostBytes);

  // kFailedPrecondition: the other side is not vramscope, or uses another version of the stream.
  // After kDataLoss, kResourceExhausted or kInternal (an error of the local disk) nothing more is
  // accepted.
  absl::Status Take(std::string_view bytes);
  bool begun() const { return begun_; }
  const std::optional<Outcome>& outcome() const { return outcome_; }

 private:
  absl::Status TakeFrame(const trace::Frame& frame);
  absl::Status TakePiece(std::string_view payload);

  std::string folder_;
  const uint64_t most_bytes_;
  trace::FrameDecoder decoder_;
  std::string before_;  // output before the first frame, printed by a shell when it starts
  absl::Status broken_;
  bool begun_ = false, greeted_ = false;
  std::optional<Outcome> outcome_;
  std::map<std::string, uint64_t> files_;  // received bytes of each file
  uint64_t bytes_ = 0;
};

}  // namespace vramscope::program
