// The language of the command line: texts on standard output and error, not JSON and not files.
//
//   TranslateOutput(argc, argv, language);   // first, so that errors are translated
//   ... declare options and commands ...
//   TranslateHelp(app);
//
// Main thread only.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace vramscope::cli {

// Follows `--lang NAME`, else LC_ALL, LC_MESSAGES and LANG. English where the output is read by
// programs: with --json, in `mcp`, `describe` and `selfcheck`. Moves --lang from argv to `language`
// (empty: it is not given). False: --lang has an unknown name, which is reported.
// With --help, every command is translated.
bool TranslateOutput(int& argc, char** argv, std::string& language);

// For `selfcheck`, which compares the English output of other commands: begins to translate its own
// output. No effect with --json.
void TranslateLate();

// The translation of a help text; empty if it is.
std::string Translated(const std::string& english);

// The text of an error in the arguments, translated: CLI11 writes it in English.
std::string ErrorText(const CLI::ParseError& error);

// Translates the descriptions of `app`, its options and its commands.
void TranslateHelp(CLI::App& app);

}  // namespace vramscope::cli
