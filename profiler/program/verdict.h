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

// Returns, in full sentences, what the user should know before the program starts: that it is
// executed, how this differs from a normal run, and a plan's isolation (Isolation::Description).
std::string BeforeText(bool planned, std::string_view device, uint32_t steps,
                       std::string_view isolation = {});

// Returns, for example, "the program ended with status 1".
std::string EndText(const Outcome& outcome);

// Whether the program ended in a way that does not affect the result: by itself, after the wanted
// number of steps, or by a signal during the interpreter's shutdown, when everything was
// recorded.
bool EndedWell(const Program& seen, const Outcome& outcome);
// If a signal ended the program during shutdown, describes that; "" in other cases.
std::string DiedShuttingDown(const Program& seen, const Outcome& outcome);
// Returns a warning if a program that ended well was killed during shutdown, if vramscope ended it
// because it did nothing any more, or if one of its processes failed; "" otherwise.
std::string WarningOf(const Program& seen, const Outcome& outcome);

// Returns, for example, "ValueError: no such batch"; with several ranks, also the failed rank.
std::string WhyOf(const About& failed);

// Returns why nothing of a program was recorded, and what to do about it. `output`: what the
// program printed, if known.
absl::Status NothingSeen(const Program& seen, const Outcome& outcome, bool planned,
                         std::string_view output = {});

// Returns the last line of the program's own code in the last traceback that it printed, such as
// "train.py:12". Ignores frames of installed packages. Returns "" without a traceback.
std::string LastPythonLine(std::string_view output);

// Returns the last exception that a program printed, such as "SyntaxError: invalid syntax", or "".
std::string PrintedException(std::string_view output);
// Returns the reason that a failed program printed last: an exception, or the text after "train.py:
// error: ", such as "unrecognized arguments: --batch". Returns "" if it printed none at the end.
std::string FinalMessage(std::string_view output);

// Returns the exception's first line, without a full stop: "OutOfMemoryError: CUDA out of memory.
// Tried to allocate 512.00 MiB". Leaves out the other figures in PyTorch's message.
std::string ShortException(std::string_view exception);

// Returns a short name of a program: "train.py -b 8" for "/venv/bin/python /home/me/train.py -b
// 8".
std::string ShortCommand(std::string_view command);

// Writes an outcome as text, to pass it to another process.
std::string OutcomeJson(const Outcome& outcome);
absl::StatusOr<Outcome> ParseOutcome(std::string_view json);

}  // namespace vramscope::program
