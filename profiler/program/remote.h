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

// outcome.started is kNotFound if there is no ssh here or no vramscope there. It is kUnavailable if
// no connection was made, or if it broke before the program had ended. The folder then contains the
// data received before.
Outcome LaunchRemote(const Remote& remote, const LaunchOptions& options);

// The remote side. Calls Launch, and sends the folder to standard output. Each byte on standard
// input interrupts the program. If standard input ends, the receiver is gone: the program is ended.
Outcome LaunchForRemote(const Platform& platform, LaunchOptions options,
                        std::atomic<int>& interrupts);

}  // namespace vramscope::program
