// `record` on another computer: ssh starts vramscope there, which starts the program and sends what
// its hooks write while it runs (folder_stream.h); here it lies in a folder as if the program ran
// here.
//
//   const Remote remote{.host = "user@box", .folder = "project"};
//   const Outcome outcome = LaunchRemote(remote, {.command = {"python", "train.py"},
//                                                 .planned = false, .output = folder});
//
// Blocks. Ctrl-C ends the program there and brings what is left; the same again cuts the
// connection. Whoever of the two is killed, the program is ended and what had come is there.
#pragma once

#include <atomic>
#include <string>

#include "profiler/program/launch.h"

namespace vramscope::program {

struct Remote {
  std::string host;                     // as ssh takes it
  std::string folder = {};              // there, that the program starts in; "": the login's
  std::string vramscope = "vramscope";  // there
};

// outcome.started: kNotFound: no ssh here, no vramscope there; kUnavailable: no connection, or it
// broke before the program had ended: what came is in the folder.
Outcome LaunchRemote(const Remote& remote, const LaunchOptions& options);

// The other side: Launch, with the folder sent through standard output. What comes from standard
// input are interrupts, and its end is one: who listens is gone.
Outcome LaunchForRemote(const Platform& platform, LaunchOptions options,
                        std::atomic<int>& interrupts);

}  // namespace vramscope::program
