#include "app/cli/language.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/command.h"
#include "profiler/base/i18n.h"

#ifdef VRAMSCOPE_WITH_WINDOW
#include "ui/language/language.h"
#endif

namespace vramscope::cli {
namespace {

struct Arguments {
  std::optional<std::string> language;  // --lang
  std::string command;
  bool json = false;
};

bool IsCommand(std::string_view word) {
  return std::ranges::any_of(AllCommands(),
                             [&](const CommandEntry& entry) { return entry.name == word; });
}

// Reads the arguments before "--", and removes a --lang that follows the command from argv, because
// it is an option of the program and not of the command.
Arguments Take(int& argc, char** argv) {
  constexpr std::string_view kLanguage = "--lang";
  Arguments out;
  int kept = std::min(argc, 1);
  int i = 1;
  for (; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument == "--") break;  // a program and its own options
    const std::string_view name = argument.substr(0, argument.find('='));
    int words = 1;
    const bool language = name == kLanguage && (name != argument || i + 1 < argc);
    if (language && name == argument) {
      out.language = argv[i + 1];
      words = 2;
    } else if (language) {
      out.language = argument.substr(name.size() + 1);
    } else if (out.command.empty() && IsCommand(argument)) {
      out.command = argument;
    }
    out.json |= name == "--json";
    if (!language || out.command.empty())
      for (int word = 0; word < words; ++word) argv[kept++] = argv[i + word];
    i += words - 1;
  }
  while (i < argc) argv[kept++] = argv[i++];
  argc = kept;
  return out;
}

// CLI11's default groups.
constexpr const char* kOptions = TEXT_MARK("Options");
constexpr const char* kSubcommands = TEXT_MARK("Subcommands");
// CLI11's descriptions, here for the catalogue: they are translated as those of our options are.
[[maybe_unused]] constexpr const char* kDescriptions[] = {
    TEXT_MARK("Print this help message and exit"),
    TEXT_MARK("Display program version information and exit")};

void TranslateTexts(CLI::App& app) {
  app.description(Translated(app.get_description()));
  app.footer(Translated(app.get_footer()));
  for (CLI::Option* option : app.get_options()) {
    option->description(Translated(option->get_description()));
    if (option->get_group() == kOptions) option->group(i18n::Text(kOptions));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_group() == kSubcommands) command->group(i18n::Text(kSubcommands));
    TranslateTexts(*command);
  }
}

}  // namespace

bool TranslateOutput(int& argc, char** argv) {
  [[maybe_unused]] const Arguments arguments = Take(argc, argv);
#ifdef VRAMSCOPE_WITH_WINDOW
  const std::optional<ui::Language> asked =
      arguments.language ? ui::LanguageFromName(QString::fromStdString(*arguments.language))
                         : std::nullopt;
  if (arguments.language && !asked) {
    NoteError(i18n::Format("--lang: \"{}\" is not one of en, zh_CN", *arguments.language));
    return false;
  }
  constexpr std::string_view kForPrograms[] = {"mcp", "describe", "selfcheck"};
  if (arguments.json ||
      std::ranges::find(kForPrograms, arguments.command) != std::end(kForPrograms))
    return true;
  ui::TranslateTexts(asked ? *asked : ui::SystemLanguage());
#endif
  return true;
}

std::string Translated(const std::string& english) {
  return english.empty() ? english : i18n::Text(english);
}

void TranslateHelp(CLI::App& app) {
  // CLI11's own words; the formatter is shared by all commands.
  for (const char* label :
       {TEXT_MARK("Usage"), TEXT_MARK("OPTIONS"), TEXT_MARK("SUBCOMMAND"), TEXT_MARK("Positionals"),
        TEXT_MARK("REQUIRED"), TEXT_MARK("Needs"), TEXT_MARK("Excludes")})
    app.get_formatter()->label(label, i18n::Text(label));
  TranslateTexts(app);
}

}  // namespace vramscope::cli
