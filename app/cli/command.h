// The pieces of the command line that every subcommand shares: exit status, errors, registration.
//
// A subcommand is one file that declares a CommandEntry; no list is touched. Main thread only.
#pragma once

#include <absl/status/status.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::cli {

// DESIGN section 11. After Ctrl-C the status is the shell's own 130.
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
  // What stands behind the first "--" of `plan` and `record`: a program and its arguments.
  bool has_program = false;
  std::vector<std::string> after_dashes;
};

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written

// What was given cannot be used, or needs more memory than there is: 3. Everything else: 4.
ExitCode ExitCodeOf(const absl::Status& status);

// "vramscope: error: ..." on stderr; returns ExitCodeOf(status).
ExitCode ReportError(const absl::Status& status);
// "vramscope: ..." on stderr. Every message goes through here and is made printable: it may quote a
// file.
void Note(std::string_view message);
// A note that is an error: what this program's other processes read from stderr is recognized by
// this prefix, which is not translated.
inline constexpr std::string_view kErrorPrefix = "error: ";
void NoteError(std::string_view message);

// What commands print while it lives, kept in place of being printed, so that `selfcheck` can
// compare what they say. One at a time.
class CapturedOutput {
 public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  Json json;  // null: none was printed
  std::string text;
  std::vector<std::string> notes;
};

// This computer's memory does not suffice for `what`, a file's name or "".
absl::Status OutOfMemory(const std::string& what);

// One JSON object on stdout. kInternalFailure when stdout does not take it.
ExitCode PrintJson(const Json& json);
ExitCode PrintText(std::string_view text);

// A subcommand, declared by the file that has it:
//
//   CommandEntry DeclareCommand_phases() {
//     return {.place = 60, .name = "phases", .help = "...", .example = "phases run.trace",
//             .declare = DeclarePhases};
//   }
struct CommandEntry {
  int place = 0;  // in --help: the lowest first
  const char* name = "";
  const char* help = "";
  const char* example = "";    // without "vramscope "; its own help ends with it
  bool takes_program = false;  // what stands behind "--" goes to Context::after_dashes
  // Adds the command's options and its callback, which stores the exit status in the context.
  void (*declare)(CLI::App* command, Context& context) = nullptr;
};
// What the files of this folder declare, in the order of --help. CMake writes the list.
const std::vector<CommandEntry>& AllCommands();
// `app` and `context` outlive the command.
void AddCommand(CLI::App& app, const CommandEntry& entry, Context& context);

}  // namespace vramscope::cli
