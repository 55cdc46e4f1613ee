// What a user asks for in the window: one program, how it is started and where: planned on a card
// that is not there, or recorded on one that is, here or on another computer; and the command line
// that does the same.
//
//   ASSIGN_OR_RETURN(std::vector<std::string> words, CommandOf(request));
//   Show(CommandLineOf(request));   // "cd /home/me && vramscope plan --steps 3 -- python train.py"
//
// Pure but for looking whether files are there; thread-safe.
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
  std::string arguments;            // as one types them into a shell
  std::string folder = {};          // that it starts in; "": the script's, on a host the login's
  std::string device = "rtx-4090";  // of a plan
  uint32_t ranks = 1;
  uint32_t steps = 2;      // 0: to its end
  bool skip_init = true;   // of a plan
  bool operators = false;  // of a recording: which operator launched each kernel; a plan knows it
  // Of kHost: script and folder are there, and so are these; "": what its PATH finds.
  std::string host = {}, host_interpreter = {}, host_vramscope = {};

  bool planned() const { return where == Where::kPlanned; }
};

// Words of a line as a shell takes it apart: blanks, quotes and backslashes; no variables, no
// patterns. kInvalidArgument: a quote that is not closed.
absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view line);
std::string JoinWords(const std::vector<std::string>& words);  // the other way round

// "python", "train.py", its arguments; recorded on several GPUs, by torchrun's module. Of a host
// nobody looks what is there. kInvalidArgument, kNotFound: what is missing.
absl::StatusOr<std::vector<std::string>> CommandOf(const Request& request);
std::string FolderOf(const Request& request);  // on this computer
// "plan", "--device", "h100-sxm", ...: before "--"; what is as it is by itself is left out.
std::vector<std::string> OptionsOf(const Request& request);
// For a shell; of a request that cannot be started as far as it goes.
std::string CommandLineOf(const Request& request);

}  // namespace vramscope::program
