// Starts a helper process that cleans up if this process is killed. The helper ends all processes
// that the program has started, including those that the program's own launcher started, and
// removes folders.
//
//   const Keeper keeper({.output = folder, .last = {"vramscope", ...}, .folders = {rooms}});
//
// If the object is destroyed normally, the helper does nothing.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace vramscope::program {

struct KeeperOptions {
  // The value of VRAMSCOPE_PROGRAM_OUTPUT in every process of the program.
  std::string output;
  std::vector<std::string> last = {};     // a command to run afterwards; empty: none
  std::vector<std::string> folders = {};  // folders to remove after `last`
};

class Keeper {
 public:
  explicit Keeper(const KeeperOptions& options);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Returns whether the process is a keeper: of this vramscope, or of one that the program started.
  static bool Is(pid_t pid);

 private:
  pid_t pid_ = -1;  // a child of this process; -1: fork failed
  int end_ = -1;    // the pipe to the helper; stays open as long as this process exists
};

}  // namespace vramscope::program
