// What is said of a watched program before it runs and when it has ended, the same on the command
// line and in the window.
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

// What the user should know before the program starts: that it really runs, what differs from a
// real run and, of a plan, what its isolation holds (Isolation::Description). Full sentences.
std::string BeforeText(bool planned, std::string_view device, uint32_t steps,
                       std::string_view isolation = {});

// "the program ended with status 1"
std::string EndText(const Outcome& outcome);

// Whether it ended without a failure that matters to what was seen of it: by itself, after as many
// steps as were wanted, or, all of it told, by a signal while the interpreter was shutting down.
bool EndedWell(const Program& seen, const Outcome& outcome);
// What is said of the last; "" where it was not so.
std::string DiedShuttingDown(const Program& seen, const Outcome& outcome);
// What a user is warned of though it ended well: that, or a process of it that failed; "": nothing.
std::string WarningOf(const Program& seen, const Outcome& outcome);

// "ValueError: no such batch", of several ranks with the one that raised it.
std::string WhyOf(const About& failed);

// Why there is nothing to show of a program that has ended, and what to do about it.
absl::Status NothingSeen(const Program& seen, const Outcome& outcome, bool planned);

// Where a program that raised was last in code of its own: "train.py:12" of the last traceback in
// what it printed; frames of installed packages do not count. "": there is none.
std::string LastPythonLine(std::string_view output);

// What it raised, to be shown beside the figures that PyTorch's messages name: "OutOfMemoryError:
// CUDA out of memory. Tried to allocate 512.00 MiB". Its first line, without a full stop.
std::string ShortException(std::string_view exception);

// A program as people call it: "train.py --batch 8" of "/venv/bin/python /home/me/train.py --batch
// 8".
std::string ShortCommand(std::string_view command);

// An outcome on its way from one process to another.
std::string OutcomeJson(const Outcome& outcome);
absl::StatusOr<Outcome> ParseOutcome(std::string_view json);

}  // namespace vramscope::program
