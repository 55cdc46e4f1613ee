// Messages about a watched program before it runs and after it has ended, for the command line and
// the window.
//
//   Note(BeforeText(true, device.name, steps));
//   if (program.runs.empty()) return NothingSeen(program, outcome, true);
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/program/launch.h"
#include "profiler/program/program.h"

namespace vramscope::program {

// What the user should know before the program starts, in full sentences: that it is executed, how
// that differs from a normal run and, for a plan, its isolation (Isolation::Description).
std::string BeforeText(bool planned, std::string_view device, uint32_t steps,
                       std::string_view isolation = {});

// "the program ended with status 1"
std::string EndText(const Outcome& outcome);

// Whether the program ended without a failure that affects the result: by itself, after the wanted
// number of steps, or by a signal while the interpreter was shutting down after everything had been
// recorded.
bool EndedWell(const Program& seen, const Outcome& outcome);
// Describes the program's end if a signal ended it during shutdown; "" in other cases.
std::string DiedShuttingDown(const Program& seen, const Outcome& outcome);
// A warning if a program that ended well died during shutdown, or if one of its processes failed;
// "" otherwise.
std::string WarningOf(const Program& seen, const Outcome& outcome);

// "ValueError: no such batch"; with several ranks, also the rank that raised it.
std::string WhyOf(const About& failed);

// Why nothing of a program was recorded, and what to do about it. `output`: what the program
// printed, if that is known.
absl::Status NothingSeen(const Program& seen, const Outcome& outcome, bool planned,
                         std::string_view output = {});

// The last line of the program's own code in the last traceback that it printed: "train.py:12".
// Frames of installed packages do not count. "": there is no traceback.
std::string LastPythonLine(std::string_view output);

// The last exception that a Python program printed: "SyntaxError: invalid syntax". "": none.
std::string PrintedException(std::string_view output);
// The reason that a failed program printed last: an exception, or the text after "train.py: error:
// ", such as "unrecognized arguments: --batch". "": its output does not end with a reason.
std::string FinalMessage(std::string_view output);

// The first line of the exception, without a full stop: "OutOfMemoryError: CUDA out of memory.
// Tried to allocate 512.00 MiB". The further figures in PyTorch's messages are left out.
std::string ShortException(std::string_view exception);

// A short name of a program: "train.py --batch 8" for "/venv/bin/python /home/me/train.py --batch
// 8".
std::string ShortCommand(std::string_view command);

// An outcome as text, to pass it to another process.
std::string OutcomeJson(const Outcome& outcome);
absl::StatusOr<Outcome> ParseOutcome(std::string_view json);

}  // namespace vramscope::program
