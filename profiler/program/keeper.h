// A process beside this one that outlives it if it is killed, and then leaves nothing behind: what
// the program has started is ended, also what its own launcher had started, and folders go.
//
//   const Keeper keeper({.output = folder, .folders = {rooms}, .last = {"vramscope", ...}});
//
// One that is destroyed has done nothing.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace vramscope::program {

struct KeeperOptions {
  // What belongs to the program has this in its environment, as VRAMSCOPE_PROGRAM_OUTPUT.
  std::string output;
  std::vector<std::string> last = {};     // a command that is run then; none: nothing
  std::vector<std::string> folders = {};  // that are removed behind it
};

class Keeper {
 public:
  explicit Keeper(const KeeperOptions& options);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Whether that process is one, of ours or of another vramscope that runs within the program.
  static bool Is(pid_t pid);

 private:
  pid_t pid_ = -1;  // a child of this process; -1: it could not be made
  int end_ = -1;    // open as long as this process lives
};

}  // namespace vramscope::program
