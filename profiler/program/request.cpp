#include "profiler/program/request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "profiler/base/i18n.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

bool IsModule(const Request& request) { return request.script.starts_with("-m "); }

std::vector<std::string> Words(const Request& request, std::vector<std::string> arguments) {
  const std::string& interpreter =
      request.where == Where::kHost ? request.host_interpreter : request.interpreter;
  std::vector<std::string> words = {interpreter.empty() ? "python3" : interpreter};
  // Ranks of a recording are started by torchrun's module, and ranks of a plan by vramscope.
  if (!request.planned() && request.ranks > 1)
    words.insert(words.end(), {"-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                               std::to_string(request.ranks)});
  if (IsModule(request)) {
    words.emplace_back("-m");
    words.push_back(request.script.substr(request.script.find_first_not_of(' ', 2)));
  } else {
    words.push_back(request.script);
  }
  for (std::string& argument : arguments) words.push_back(std::move(argument));
  return words;
}

std::string Quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\'' && line.substr(i).starts_with("\\\n")) {
      ++i;  // a shell joins a line that ends with a backslash to the next
      continue;
    }
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size() &&
               (quote == 0 || line[i + 1] == '"' || line[i + 1] == '\\')) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0)
    return absl::InvalidArgumentError(
        i18n::Format("a quote ({}) in the arguments is not closed", quote));
  return words;
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += Quoted(word);
  }
  return line;
}

absl::StatusOr<std::vector<std::string>> CommandOf(const Request& request) {
  if (request.script.empty())
    return absl::InvalidArgumentError(i18n::Text("choose the training script"));
  absl::StatusOr<std::vector<std::string>> arguments = SplitWords(request.arguments);
  if (IsModule(request) && request.script.find_first_not_of(' ', 2) == std::string::npos)
    return absl::InvalidArgumentError(i18n::Text("-m needs the name of a module"));
  if (request.where == Where::kHost) {
    if (request.host.empty())
      return absl::InvalidArgumentError(i18n::Text("enter the computer as user@host, as for ssh"));
    if (request.host[0] == '-' || request.host.find_first_of(" \t") != std::string::npos)
      return absl::InvalidArgumentError(
          i18n::Format("'{}' is not a host name that ssh accepts", request.host));
    if (!arguments.ok()) return arguments.status();
    return Words(request, *std::move(arguments));
  }
  std::error_code none;
  if (!IsModule(request)) {
    if (!fs::exists(request.script, none))
      return absl::NotFoundError(i18n::Format("there is no file '{}'", request.script));
    if (fs::is_directory(request.script, none))
      return absl::InvalidArgumentError(
          i18n::Format("'{}' is a folder: choose a script in this folder", request.script));
    if (access(request.script.c_str(), R_OK) != 0)
      return absl::PermissionDeniedError(
          i18n::Format("no permission to read '{}'", request.script));
  }
  if (request.interpreter.empty())
    return absl::InvalidArgumentError(i18n::Text("choose the Python interpreter that has PyTorch"));
  if (!fs::exists(request.interpreter, none))
    return absl::NotFoundError(
        i18n::Format("the interpreter '{}' no longer exists", request.interpreter));
  if (const std::string folder = FolderOf(request); !fs::is_directory(folder, none))
    return absl::NotFoundError(i18n::Format("the working directory '{}' does not exist", folder));
  if (!arguments.ok()) return arguments.status();
  return Words(request, *std::move(arguments));
}

std::string FolderOf(const Request& request) {
  std::error_code none;
  if (request.where == Where::kHost) return fs::current_path(none).string();
  if (!request.folder.empty()) return request.folder;
  if (IsModule(request)) return fs::current_path(none).string();
  return fs::absolute(request.script, none).parent_path().string();
}

std::vector<std::string> StudyOptionsOf(const Request& request) {
  std::vector<std::string> words = {"--device", request.device};
  if (request.ranks != 1) words.insert(words.end(), {"--ranks", std::to_string(request.ranks)});
  if (!request.skip_init) words.emplace_back("--no-skip-init");
  if (request.steps != Request().steps)
    words.insert(words.end(), {"--steps", std::to_string(request.steps)});
  return words;
}

std::vector<std::string> OptionsOf(const Request& request) {
  std::vector<std::string> words = {request.planned() ? "plan" : "record"};
  const auto put = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  if (request.planned()) {
    const std::vector<std::string> shared = StudyOptionsOf(request);
    words.insert(words.end(), shared.begin(), shared.end());
    for (const std::string& toggle : request.toggles) put("--toggle", toggle);
    return words;
  }
  if (request.where == Where::kHost) {
    put("--host", request.host);
    if (!request.folder.empty()) put("--remote-folder", request.folder);
    if (!request.host_vramscope.empty()) put("--remote-vramscope", request.host_vramscope);
  }
  // 0 is left out, because a recording runs to its end by default.
  if (request.steps != 0) put("--steps", std::to_string(request.steps));
  if (request.operators) words.emplace_back("--operators");
  return words;
}

std::string CommandLineOf(const Request& request) {
  const absl::StatusOr<std::vector<std::string>> arguments = SplitWords(request.arguments);
  Request shown = request;
  std::string line;
  if (request.where != Where::kHost) {
    const std::string folder = FolderOf(request);
    // The script's path is shown as a user would type it: relative to the folder.
    if (!IsModule(shown) && !shown.script.empty()) {
      std::error_code none;
      const fs::path script = fs::absolute(shown.script, none);
      if (script.parent_path() == fs::path(folder)) shown.script = script.filename().string();
    }
    if (!folder.empty()) line = "cd " + Quoted(folder) + " && ";
  }
  line += "vramscope " + JoinWords(OptionsOf(request)) + " -- ";
  return line + JoinWords(Words(shown, arguments.ok() ? *arguments : std::vector<std::string>()));
}

}  // namespace vramscope::program
