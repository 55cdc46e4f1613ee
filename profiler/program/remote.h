// `record` on another computer. ssh starts vramscope there, which starts the program and sends the
// hooks' files while the program runs (folder_stream.h). The files are stored in a local folder as
// if the program ran locally.
//
//   const Remote remote{.host = "user@box", .folder = "project"};
//   const Outcome outcome = LaunchRemote(remote, {.command = {"python", "train.py"},
//                                                 .planned = false, .output = folder});
//
// Blocks. Ctrl-C ends the remote program and transfers the remaining data; a second Ctrl-C closes
// the connection. If either side is killed, the program is ended and the data received so far is
// kept.
#pragma once

#include <atomic>
#include <string>

#include "profiler/program/launch.h"

namespace vramscope::program {

struct Remote {
  std::string host;         // a host name as for ssh
  std::string folder = {};  // the remote folder in which the program starts; "": the login folder
  std::string vramscope = "vramscope";  // the remote command
};

// outcome.started is kNotFound if there is no local ssh or no remote vramscope, and kUnavailable if
// no connection was made or the connection broke before the program had ended. Data received before
// that is in the folder.
Outcome LaunchRemote(const Remote& remote, const LaunchOptions& options);

// The remote side. Calls Launch and sends the folder through standard output. Each byte on standard
// input interrupts the program. The end of standard input ends it, because the receiver is gone.
Outcome LaunchForRemote(const Platform& platform, LaunchOptions options,
                        std::atomic<int>& interrupts);

}  // namespace vramscope::program
