#include "app/cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "profiler/base/version.h"
#include "profiler/run/device_profile.h"

namespace vramscope::cli {
namespace {

constexpr const char* kHidden = "";  // CLI11's group for options that --help does not show

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    if (command->get_group() != kHidden) commands.push_back(command);
  return commands;
}

std::vector<const CLI::Option*> Options(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options(nullptr))
    if (option->get_group() != kHidden && !option->get_positional()) options.push_back(option);
  return options;
}

// Returns for example "-o", "--output".
std::vector<std::string> Names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool HasValue(const CLI::Option& option) { return option.get_expected_max() > 0; }

// Returns the values that the option allows, or nothing if it allows any value, such as any file
// name.
std::vector<std::string> Choices(const CLI::Option& option) {
  std::vector<std::string> choices;
  for (const std::string& name : option.get_lnames()) {
    // a --device with type N takes the number of a device in a recording, not a GPU's name
    if (name != "device" || option.get_type_name() == "N") continue;
    for (const run::DeviceProfile& device : run::Devices()) choices.push_back(device.key);
    return choices;
  }
  // CLI11 writes a set as "{dark,light,system}" and a map as "{dark->0,light->1}".
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  for (const std::string& one : CLI::detail::split(type.substr(open + 1, close - open - 1), ',')) {
    const std::string choice = one.substr(0, one.find("->"));
    if (choice.find_first_of(" '\"\\$`") == std::string::npos) choices.push_back(choice);
  }
  return choices;
}

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Quotes the text so that a shell reads it as one word.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string BashCase(const CLI::App& command, std::string_view indent) {
  std::string text;
  for (const CLI::Option* option : Options(command)) {
    const std::vector<std::string> choices = Choices(*option);
    if (choices.empty()) continue;
    text += fmt::format("{}{}) COMPREPLY=($(compgen -W {} -- \"$current\")); return ;;\n", indent,
                        fmt::join(Names(*option), "|"), Quoted(Joined(choices)));
  }
  return text.empty() ? "" : fmt::format("{0}case $before in\n{1}{0}esac\n", indent, text);
}

std::string Words(const CLI::App& command) {
  std::vector<std::string> all;
  for (const CLI::Option* option : Options(command))
    for (std::string& name : Names(*option)) all.push_back(std::move(name));
  return Joined(all);
}

std::string Bash(const CLI::App& app) {
  std::string text = R"(# bash completion for vramscope; made by `vramscope describe bash`
_vramscope() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} word options
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    # A program of the user's: its own words, and files.
    if [[ $word == -- ]]; then return; fi
  done
  case ${COMP_WORDS[1]} in
)";
  std::vector<std::string> names;
  for (const CLI::App* command : Commands(app)) {
    names.push_back(command->get_name());
    text += fmt::format("  {})\n{}    options={}\n    ;;\n", command->get_name(),
                        BashCase(*command, "    "), Quoted(Words(*command)));
  }
  text += fmt::format(
      "  *)\n{}    options={}\n    if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then "
      "options={}; fi\n    ;;\n  esac\n",
      BashCase(app, "    "), Quoted(Words(app)), Quoted(Joined(names)));
  return text + R"(  if ((COMP_CWORD == 1)) || [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  fi
}
complete -o default -F _vramscope vramscope
)";
}

// Escapes brackets and colons, which zsh's _arguments would interpret.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : FirstLine(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshArguments(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : Options(command)) {
    const std::vector<std::string> choices = Choices(*option);
    const std::string value = !HasValue(*option) ? ""
                              : choices.empty()  ? ":value:_files"
                                                 : ":value:(" + Joined(choices) + ")";
    for (const std::string& name : Names(*option))
      text += " \\\n        " +
              Quoted(fmt::format("*{}[{}]{}", name, ZshText(option->get_description()), value));
  }
  return text;
}

std::string Zsh(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : Commands(app)) {
    commands += fmt::format(
        "    {}\n", Quoted(command->get_name() + ":" + FirstLine(command->get_description())));
    cases += fmt::format("    {})\n      _arguments{} \\\n        '*:file:_files' ;;\n",
                         command->get_name(), ZshArguments(*command));
  }
  return fmt::format(R"(#compdef vramscope
# made by `vramscope describe zsh`
_vramscope() {{
  local -a commands=(
{}  )
  if ((${{words[(I)--]}})) && ((${{words[(I)--]}} < CURRENT)); then
    _files
    return
  fi
  if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then
    _describe command commands
    _files
    return
  fi
  local command=${{words[2]}}
  case $command in
{}    *)
      _arguments{} \
        '*:file:_files' ;;
  esac
}}
_vramscope "$@"
)",
                     commands, cases, ZshArguments(app));
}

std::string FishOptions(const CLI::App& command, const std::string& condition) {
  std::string text;
  for (const CLI::Option* option : Options(command)) {
    text += fmt::format("complete -c vramscope -n {}", Quoted(condition));
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    const std::vector<std::string> choices = Choices(*option);
    if (!choices.empty())
      text += " -x -a " + Quoted(Joined(choices));
    else if (HasValue(*option))
      text += " -r";
    text += " -d " + Quoted(FirstLine(option->get_description())) + "\n";
  }
  return text;
}

std::string Fish(const CLI::App& app) {
  std::string text = "# fish completion for vramscope; made by `vramscope describe fish`\n";
  for (const CLI::App* command : Commands(app)) {
    const std::string name = command->get_name();
    text += fmt::format("complete -c vramscope -n __fish_use_subcommand -a {} -d {}\n", name,
                        Quoted(FirstLine(command->get_description())));
    text += FishOptions(*command, "__fish_seen_subcommand_from " + name);
  }
  return text + FishOptions(app, "__fish_use_subcommand");
}

// Escapes text for a manual page, so that roff does not interpret any of it.
std::string Roff(const std::string& text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    line_begins = c == '\n';
  }
  return escaped;
}

std::string RoffOptions(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : Options(command)) {
    std::string head = fmt::format("{}", fmt::join(Names(*option), ", "));
    const std::string type = option->get_type_name();
    if (HasValue(*option)) head += " " + type.substr(0, type.find(':'));
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Roff(head), Roff(option->get_description()));
  }
  return text;
}

std::string Manual(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH VRAMSCOPE 1 \"\" \"vramscope {}\" \"User Commands\"\n.SH NAME\nvramscope \\- shows the "
      "contents of GPU memory while a neural network trains\n.SH SYNOPSIS\n.nf\nvramscope "
      "[FILE...]\nvramscope COMMAND [OPTIONS]\nvramscope plan [OPTIONS] \\-\\- PROGRAM "
      "ARGUMENTS...\n.fi\n.SH DESCRIPTION\n{}\n",
      base::Version(), Roff(app.get_description()));
  text += ".SH OPTIONS\n" + RoffOptions(app) + ".SH COMMANDS\n";
  for (const CLI::App* command : Commands(app)) {
    text +=
        fmt::format(".SS {}\n{}\n", Roff(command->get_name()), Roff(command->get_description()));
    text += RoffOptions(*command);
    if (!command->get_footer().empty())
      text += ".PP\n.nf\n" + Roff(command->get_footer()) + "\n.fi\n";
  }
  text +=
      ".SH EXIT STATUS\n0 success, 1 negative result, 2 wrong usage, 3 bad input, 4 internal "
      "failure.\n"
      ".SH ENVIRONMENT\n.TP\n\\fBVRAMSCOPE_WORKER\\fR\nthe worker to use, in place of the one that "
      "belongs to the program\n.TP\n\\fBVRAMSCOPE_EMULATED\\fR\nthe folder of the emulated "
      "platform, in "
      "place of the one that belongs to the program\n";
  return text;
}

}  // namespace

std::string Describe(const CLI::App& app, std::string_view what) {
  if (what == "bash") return Bash(app);
  if (what == "zsh") return Zsh(app);
  if (what == "fish") return Fish(app);
  return Manual(app);
}

namespace {

// The hidden command `describe bash|zsh|fish|man`.
void DeclareDescribe(CLI::App* command, Context& context) {
  auto what = std::make_shared<std::string>();
  command->group(kHidden);
  command->add_option("WHAT", *what)
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->callback([command, &context, what] {
    context.exit_code = PrintText(Describe(*command->get_parent(), *what));
  });
}

}  // namespace

CommandEntry DeclareCommand_describe() {
  return {.place = 260,
          .name = "describe",
          .help = "print a completion script (bash, zsh, fish) or the manual page (man)",
          .declare = DeclareDescribe};
}

}  // namespace vramscope::cli
