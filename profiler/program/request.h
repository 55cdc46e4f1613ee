// What the user enters in the window to run a program: how the program is started, and whether it
// is planned on an emulated GPU or recorded on a real one, here or on another computer. Also the
// equivalent command line.
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
  // For a recording: whether to record the operator that launched each kernel (a plan always does).
  bool operators = false;
  // For kHost only: all paths, even `script` and `folder`, are remote. "": from the remote PATH.
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

// "python", "train.py", its arguments. On several GPUs, a recording starts torchrun's module.
// Remote paths are not checked. kInvalidArgument, kNotFound: the message names what is missing.
absl::StatusOr<std::vector<std::string>> CommandOf(const Request& request);
std::string FolderOf(const Request& request);  // the folder on this computer
// "plan", "--device", "h100-sxm", ...: the words before "--". Defaults are left out.
std::vector<std::string> OptionsOf(const Request& request);
// The options of a plan that fit, toggles and waterfall, if they study a program, take, too: all
// but the toggles.
std::vector<std::string> StudyOptionsOf(const Request& request);
// The command line, quoted for a shell. An incomplete request yields an incomplete command line.
std::string CommandLineOf(const Request& request);

}  // namespace vramscope::program
