// What the user enters in the window to run a program: how the program is started, and whether it
// is planned on an emulated GPU or recorded on a real one (here or on another computer). Also
// converts this to the equivalent command line.
//
//   ASSIGN_OR_RETURN(std::vector<std::string> words, CommandOf(request));
//   Show(CommandLineOf(request));   // "cd /home/me && vramscope plan --steps 3 -- python train.py"
//
// The functions only check whether files exist, and are otherwise pure; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

enum class Where : uint8_t { kPlanned, kHere, kHost };

struct Request {
  Where where = Where::kPlanned;
  std::string script;  // a file; or "-m MODULE"
  std::string interpreter;
  std::string arguments;  // the script's arguments, as typed into a shell
  // The folder in which the program starts; "": the script's folder, or the login folder of a
  // remote host.
  std::string folder = {};
  std::string device = "rtx-4090";  // emulated GPU of a plan
  uint32_t ranks = 1;
  uint32_t steps = 2;     // 0: run to the end
  bool skip_init = true;  // of a plan: do not initialize parameters
  // For a recording: record the operator that launched each kernel. (A plan always does so.)
  bool operators = false;
  // Only for kHost. All paths, also `script` and `folder`, are remote. An empty interpreter or
  // vramscope is searched for in the remote PATH.
  std::string host = {}, host_interpreter = {}, host_vramscope = {};
  // For a plan: techniques that are switched on from outside, NAME or NAME=VALUE (toggles.h).
  std::vector<std::string> toggles = {};

  friend bool operator==(const Request&, const Request&) = default;
  bool planned() const { return where == Where::kPlanned; }
};

// Splits a line into words as a shell does, with blanks, quotes and backslashes; variables and
// patterns are not expanded. kInvalidArgument: a quote is not closed.
absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view line);
std::string JoinWords(const std::vector<std::string>& words);  // the inverse of SplitWords()

// Returns the command: "python", "train.py", arguments. On several GPUs, a recording runs torchrun.
// Remote paths are not checked. kInvalidArgument, kNotFound: the message names what is missing.
absl::StatusOr<std::vector<std::string>> CommandOf(const Request& request);
std::string FolderOf(const Request& request);  // the folder on this computer
// Returns the words before "--", such as "plan", "--device", "h100-sxm". Leaves out defaults.
std::vector<std::string> OptionsOf(const Request& request);
// Returns the options of `vramscope plan`, without --toggle. The commands `fit`, `toggles` and
// `waterfall` accept the same options when they plan a program.
std::vector<std::string> StudyOptionsOf(const Request& request);
// The command line, quoted for a shell. An incomplete request yields an incomplete command line.
std::string CommandLineOf(const Request& request);

}  // namespace vramscope::program
