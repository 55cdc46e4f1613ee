// A command of this program, or another program, in a process of its own, which a client can
// cancel.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

namespace vramscope::cli::mcp {

struct ChildOutcome {
  int status = 0;  // exit status; 128 + n: ended by signal n
  bool cancelled = false;
  std::string out;                  // at most kMostOutput
  std::vector<std::string> notes;   // the last lines of stderr
  std::vector<std::string> errors;  // the command's own errors among them, without their prefix
  // Those of them that are not the command's own, but of a program that runs under it.
  std::vector<std::string> printed;
};

inline constexpr size_t kMostOutput = size_t{64} << 20;

// Waits for its end. `cancelled` is asked several times a second: then the command is told to end,
// and after a while ended. `tick` is called about as often.
absl::StatusOr<ChildOutcome> RunChild(const std::vector<std::string>& arguments,
                                      const std::string& folder,
                                      const std::function<bool()>& cancelled,
                                      const std::function<void()>& tick);

// The same of any program, as PATH finds it (127: it does not), or "": this one. `environment`:
// variables in place of this process's own, as NAME=VALUE; NAME alone: it has none.
absl::StatusOr<ChildOutcome> RunOther(const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment,
                                      const std::string& folder,
                                      const std::function<bool()>& cancelled,
                                      const std::function<void()>& tick);

// Starts a command and leaves it: it outlives this process. Its process id. It writes nowhere.
absl::StatusOr<int> StartDetached(const std::vector<std::string>& arguments);

}  // namespace vramscope::cli::mcp
