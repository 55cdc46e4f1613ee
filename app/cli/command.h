// The pieces of the command line that every subcommand shares: exit status, errors, registration.
//
// A subcommand is one file with one Register function: it declares its options and hands CLI11 a
// callback that does the work and stores the exit status. Main thread only.
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

void RegisterPlan(CLI::App& app, Context& context);
void RegisterRun(CLI::App& app, Context& context);
void RegisterRecord(CLI::App& app, Context& context);
void RegisterInfo(CLI::App& app, Context& context);
void RegisterPeak(CLI::App& app, Context& context);
void RegisterPhases(CLI::App& app, Context& context);
void RegisterKernels(CLI::App& app, Context& context);
void RegisterReplay(CLI::App& app, Context& context);
void RegisterRequests(CLI::App& app, Context& context);
void RegisterExport(CLI::App& app, Context& context);
void RegisterDiff(CLI::App& app, Context& context);
void RegisterExplain(CLI::App& app, Context& context);
void RegisterFit(CLI::App& app, Context& context);
void RegisterWaterfall(CLI::App& app, Context& context);
void RegisterReproduce(CLI::App& app, Context& context);
void RegisterEstimate(CLI::App& app, Context& context);
void RegisterCheck(CLI::App& app, Context& context);
void RegisterSelfcheck(CLI::App& app, Context& context);
void RegisterDevices(CLI::App& app, Context& context);
void RegisterPresets(CLI::App& app, Context& context);
void RegisterTechniques(CLI::App& app, Context& context);
void RegisterDoctor(CLI::App& app, Context& context);
void RegisterToggles(CLI::App& app, Context& context);
void RegisterMcp(CLI::App& app, Context& context);
void RegisterSetup(CLI::App& app, Context& context);

}  // namespace vramscope::cli
