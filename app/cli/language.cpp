#include "app/cli/language.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/command.h"
#include "profiler/base/i18n.h"

#ifdef VRAMSCOPE_WITH_WINDOW
#include "profiler/base/output_language.h"
#include "ui/language/language.h"
#endif

namespace vramscope::cli {
namespace {

struct Arguments {
  std::optional<std::string> language;  // --lang
  std::string command;
  bool json = false, help = false;
};

// Reads the arguments before "--". Removes --lang from argv wherever it stands.
Arguments Take(int& argc, char** argv) {
  constexpr std::string_view kLanguage = "--lang";
  Arguments out;
  int kept = 0;
  bool program = false;  // the arguments are now those of a program after "--"
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    const std::string_view name = argument.substr(0, argument.find('='));
    program = program || argument == "--";
    if (!program && i > 0 && argument == kLanguage && i + 1 < argc) {
      out.language = argv[++i];
      continue;
    }
    if (!program && i > 0 && name == kLanguage && name != argument) {
      out.language = argument.substr(kLanguage.size() + 1);
      continue;
    }
    argv[kept++] = argv[i];
    if (program || i == 0) continue;
    if (out.command.empty() && !argument.starts_with('-')) out.command = argument;
    out.json |= name == "--json" || name == "--json-lines";
    out.help |= name == "--help" || name == "-h";
  }
  argc = kept;
  return out;
}

bool results_are_json = false;

// CLI11's default groups.
constexpr const char* kOptions = TEXT_MARK("Options");
constexpr const char* kSubcommands = TEXT_MARK("Subcommands");
// Descriptions of CLI11's own options, listed here so that the catalogue contains them.
[[maybe_unused]] constexpr const char* kDescriptions[] = {
    TEXT_MARK("Print this help message and exit"),
    TEXT_MARK("Display program version information and exit")};

// CLI11's errors.
constexpr std::string_view kErrorFormats[] = {
    TEXT_MARK("{} is required"),
    TEXT_MARK("{} requires {}"),
    TEXT_MARK("{} excludes {}"),
    TEXT_MARK("The following argument was not expected: {}"),
    TEXT_MARK("The following arguments were not expected: {}"),
    TEXT_MARK("{}: {} required {} missing"),
    TEXT_MARK("{}: At least {} required but received {}"),
    TEXT_MARK("{}: At Most {} required but received {}"),
    TEXT_MARK("Expected exactly {} arguments to {}, got {}"),
    TEXT_MARK("Expected at least {} arguments to {}, got {}"),
    TEXT_MARK("{} was given a disallowed flag override"),
    TEXT_MARK("{}: too many inputs for a flag"),
    TEXT_MARK("{}: Should be true/false or a number"),
    TEXT_MARK("The value {} is not an allowed value for {}"),
    TEXT_MARK("Could not convert: {} = {}"),
    TEXT_MARK("{} not in {{{}}}"),
    TEXT_MARK("Value {} not in range {} to {}"),
    TEXT_MARK("Value {} not in range [{} - {}]"),
    TEXT_MARK("Check {} {{{}}} FAILED"),
    TEXT_MARK("Failed parsing {} as a {}"),
};

// The type of an option in its help. CLI11 writes "INT" and "N:UINT in [1 - 64]".
std::string TypeText(const std::string& type) {
  constexpr std::string_view kFrom = " in [", kTo = " - ";
  for (const std::string_view name :
       {TEXT_MARK("TEXT"), TEXT_MARK("INT"), TEXT_MARK("UINT"), TEXT_MARK("FLOAT")})
    if (type == name) return i18n::Text(name);
  const size_t from = type.find(kFrom), least = from + kFrom.size();
  if (from == std::string::npos || !type.ends_with(']')) return type;
  const size_t to = type.find(kTo, least), most = to + kTo.size();
  if (to == std::string::npos) return type;
  const std::string name = type.substr(0, type.find(':'));
  return i18n::Format("{} in [{} - {}]", name, type.substr(least, to - least),
                      type.substr(most, type.size() - 1 - most));
}

void TranslateTexts(CLI::App& app) {
  app.description(Translated(app.get_description()));
  app.footer(Translated(app.get_footer()));
  for (CLI::Option* option : app.get_options()) {
    // Sets the translated type only in the formatter, because completions read the type of the
    // option itself.
    const std::string type = option->get_type_name();
    if (!type.empty()) app.get_formatter()->label(type, TypeText(type));
    option->description(Translated(option->get_description()));
    if (option->get_group() == kOptions) option->group(i18n::Text(kOptions));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_group() == kSubcommands) command->group(i18n::Text(kSubcommands));
    TranslateTexts(*command);
  }
}

}  // namespace

bool TranslateOutput(int& argc, char** argv, std::string& language) {
  const Arguments arguments = Take(argc, argv);
  language = arguments.language.value_or("");
#ifdef VRAMSCOPE_WITH_WINDOW
  const std::optional<ui::Language> asked =
      arguments.language ? ui::LanguageFromName(QString::fromStdString(*arguments.language))
                         : std::nullopt;
  if (arguments.language && !asked) {
    NoteError(i18n::Format("--lang: \"{}\" is not one of en, zh_CN", *arguments.language));
    return false;
  }
  if (!arguments.help) {
    if (arguments.command == "describe" || (arguments.json && !asked)) return true;
    i18n::KeepEnglish(arguments.json || arguments.command == "selfcheck" ||
                      arguments.command == "mcp");
  }
  results_are_json = arguments.json;
  ui::TranslateTexts(asked ? *asked : ui::SystemLanguage());
#endif
  return true;
}

void TranslateLate() {
  if (!results_are_json) i18n::KeepEnglish(false);
}

std::string Translated(const std::string& english) {
  return english.empty() ? english : i18n::Text(english);
}

std::string ErrorText(const CLI::ParseError& error) {
  i18n::Know(kErrorFormats);
  return i18n::Shown(error.what());
}

void TranslateHelp(CLI::App& app) {
  // Translates CLI11's own words in the help. All commands share the formatter.
  for (const char* label :
       {TEXT_MARK("Usage"), TEXT_MARK("OPTIONS"), TEXT_MARK("SUBCOMMAND"), TEXT_MARK("Positionals"),
        TEXT_MARK("REQUIRED"), TEXT_MARK("Needs"), TEXT_MARK("Excludes")})
    app.get_formatter()->label(label, i18n::Text(label));
  TranslateTexts(app);
}

}  // namespace vramscope::cli
