// A program's output folder (program.h) through a pipe, while the program still writes there: how
// `record --host` sends home what a box records. Frames of trace/frame.h, so that what is cut or
// damaged is seen.
//
//   FolderSender sender(folder, write);          // on the box
//   sender.Begin();
//   while (runs) sender.SendNew();
//   sender.End(outcome);
//
//   FolderReceiver receiver(empty_folder);       // at home
//   while (read(...)) RETURN_IF_ERROR(receiver.Take(bytes));
//   if (receiver.outcome()) ...                  // else the connection broke before the end
//
// What comes is not trusted: files have plain names, go into the folder and nowhere else, and do
// not grow beyond the limits. One thread at a time.
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
  // `write` takes all of it or says why not; after an error nothing more is sent.
  using Write = std::function<absl::Status(std::string_view bytes)>;
  FolderSender(std::string folder, Write write);

  absl::Status Begin();
  // What the program has written since: files that grow from where they were, others when they are
  // others than before.
  absl::Status SendNew();
  // What is left when the program has ended, also what a killed one had not made a chunk of
  // (history_tail.h, activity_tail.h).
  absl::Status End(const Outcome& outcome);

 private:
  struct Sent {
    uint64_t bytes = 0;       // of a file that grows
    int64_t changed_ns = -1;  // of one that is replaced
  };
  absl::Status Send(bool tails);
  absl::Status SendFile(const std::string& path);  // within the folder

  std::string folder_;
  Write write_;
  std::map<std::string, Sent> sent_;
};

class FolderReceiver {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 30;
  static constexpr size_t kMostFiles = size_t{1} << 16;
  explicit FolderReceiver(std::string folder, uint64_t most_bytes = kMostBytes);

  // kFailedPrecondition: the other side is no vramscope, or one whose stream is another; kDataLoss,
  // kResourceExhausted, kInternal (our disk): nothing more is taken.
  absl::Status Take(std::string_view bytes);
  bool begun() const { return begun_; }
  const std::optional<Outcome>& outcome() const { return outcome_; }

 private:
  absl::Status TakeFrame(const trace::Frame& frame);
  absl::Status TakePiece(std::string_view payload);

  std::string folder_;
  const uint64_t most_bytes_;
  trace::FrameDecoder decoder_;
  std::string before_;  // the first frame: what a shell prints when it starts
  absl::Status broken_;
  bool begun_ = false, greeted_ = false;
  std::optional<Outcome> outcome_;
  std::map<std::string, uint64_t> files_;  // bytes of each that have come
  uint64_t bytes_ = 0;
};

}  // namespace vramscope::program
