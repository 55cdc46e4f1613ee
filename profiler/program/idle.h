// Notices that a program does nothing any more after its requested steps. After these steps, a
// child process or a thread of the program ends. The rest of the program may then wait forever for
// its result, for example in Queue.get() or Pool.apply().
//
//   IdleWatch idle(output_folder, std::chrono::seconds(10));
//   while (running) if (idle.Waits(pids)) kill(...);
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vramscope::program {

class IdleWatch {
 public:
  // `output`: the folder to which the hooks write.
  IdleWatch(std::string output, std::chrono::milliseconds after);

  // Returns true if, for the time `after`,
  //  - a process has completed the requested steps,
  //  - no rank and no process with an optimizer has these steps still before it,
  //  - the program has used almost no processor time, and
  //  - it waits neither for the terminal nor for another computer.
  // `processes`: the program's first processes. Their descendants, and those of this process, also
  // belong to the program. Call it often: it looks at the program only now and then.
  bool Waits(const std::vector<pid_t>& processes);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string output_;
  const std::chrono::milliseconds after_, between_;
  Clock::time_point next_, since_;  // since_: begin of the time without activity
  uint64_t used_ = 0;               // processor time until `since_`, in clock ticks
};

}  // namespace vramscope::program
