// Declares what all subcommands share: exit statuses, errors, registration.
//
// Each subcommand is a file that declares a CommandEntry, so no central list has to be edited. Main
// thread only.
#pragma once

#include <absl/status/status.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/i18n.h"

namespace vramscope::cli {

// The exit statuses that app/README.md lists. After Ctrl-C the status is 130, as in a shell.
enum ExitCode : int {
  kDone = 0,
  kNo = 1,
  kUsage = 2,
  kBadInput = 3,
  kInternalFailure = 4,
  kInterrupted = 130,
};

struct Context {
  std::string program;  // argv[0]
  int exit_code = kDone;
  bool has_program = false;  // the command line has a "--"
  // The words after the first "--". For `plan` and `record`: the program and its arguments.
  std::vector<std::string> after_dashes;
};

using Json = nlohmann::ordered_json;  // keys keep the order in which they are written

// Returns 3 if an input is unusable or needs too much memory, and 4 for any other error.
ExitCode ExitCodeOf(const absl::Status& status);

// Prints "vramscope: error: ..." on stderr and returns ExitCodeOf(status).
ExitCode ReportError(const absl::Status& status);
// Prints "vramscope: ..." on stderr. All messages are printed through this function, which escapes
// control characters, because a message may quote a file.
void Note(std::string_view message);
// Prints a warning as a note. Warnings from traces are in English, and are translated here.
void NoteWarning(const std::string& warning);
// The prefix that marks a note as an error. Parent processes search stderr for this prefix. They
// run this program in English (--json without --lang, or --lang en), so the prefix is not
// translated.
inline constexpr std::string_view kErrorPrefix = TEXT_MARK("error: ");
void NoteError(std::string_view message);

// While an object of this class exists, the output of commands is stored instead of printed, so
// that `selfcheck` can compare it. At most one object may exist at a time.
class CapturedOutput {
 public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  Json json;  // null: no JSON was printed
  std::string text;
  std::vector<std::string> notes;
};

// Returns the error for too little host memory. `what` is the name of the file being read, or "".
absl::Status OutOfMemory(const std::string& what);

// Prints one JSON object on stdout. Returns kInternalFailure if writing fails.
ExitCode PrintJson(const Json& json);
ExitCode PrintText(std::string_view text);

// A subcommand, declared in its own file:
//
//   CommandEntry DeclareCommand_phases() {
//     return {.place = 60, .name = "phases", .help = "...", .example = "phases run.trace",
//             .declare = DeclarePhases};
//   }
struct CommandEntry {
  int place = 0;  // position in --help, lowest first
  const char* name = "";
  const char* help = "";
  const char* example = "";    // without "vramscope "; printed at the end of the command's help
  bool takes_program = false;  // the words after "--" are stored in Context::after_dashes
  // Adds the command's options and its callback, which stores the exit status in the context.
  void (*declare)(CLI::App* command, Context& context) = nullptr;
};
// Returns the commands declared in this folder, in the order of --help. CMake generates the
// list.
const std::vector<CommandEntry>& AllCommands();
// `app` and `context` must outlive the command.
void AddCommand(CLI::App& app, const CommandEntry& entry, Context& context);

// Returns a check that a value is a number from `least` to `most`. Unlike CLI::Range, it refuses
// "nan".
std::function<std::string(const std::string&)> NumberBetween(double least, double most);

// Refuses empty values of the app's own options. AddCommand() refuses empty values of a command's
// options. If empty values were allowed, `--device "$GPU"` would select the default GPU when the
// variable is not set.
void RefuseEmptyValues(CLI::App& app);
// Splits "--name=" into "--name" and "", because CLI11 would take the next argument as the value.
// Arguments after "--" stay unchanged. Returns the arguments in reverse order, as CLI11 expects.
std::vector<std::string> ForParser(std::vector<std::string> arguments);

}  // namespace vramscope::cli
