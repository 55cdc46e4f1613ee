// Runs a command of this program, or another program, in a separate process that a client can
// cancel.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

namespace vramscope::cli::mcp {

struct ChildOutcome {
  int status = 0;  // exit status; 128 + n: killed by signal n
  bool cancelled = false;
  std::string out;                 // standard output, at most kMostOutput bytes
  std::vector<std::string> notes;  // the last lines of stderr
  // the notes that are errors of the command itself, without their prefix
  std::vector<std::string> errors;
  // the notes that were printed by a program that the command ran, not by the command itself
  std::vector<std::string> printed;
};

inline constexpr size_t kMostOutput = size_t{64} << 20;

// Waits until the command ends, and calls `cancelled` and `tick` several times a second. After
// `cancelled` has returned true, the command is interrupted (SIGINT), and killed if it does not end
// within some seconds.
absl::StatusOr<ChildOutcome> RunChild(const std::vector<std::string>& arguments,
                                      const std::string& folder,
                                      const std::function<bool()>& cancelled,
                                      const std::function<void()>& tick);

// Runs any program on PATH in the same way; "" is this program. Status 127 means "not found".
// `environment` overrides variables of this process: NAME=VALUE sets one, NAME alone removes one.
absl::StatusOr<ChildOutcome> RunOther(const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment,
                                      const std::string& folder,
                                      const std::function<bool()>& cancelled,
                                      const std::function<void()>& tick);

// Starts a command without waiting for it, and returns its process id. The command outlives this
// process, and its output is discarded.
absl::StatusOr<int> StartDetached(const std::vector<std::string>& arguments);

}  // namespace vramscope::cli::mcp
