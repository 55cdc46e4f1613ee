// The language of texts on standard output and standard error. JSON and files are not translated.
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

// Reads the language from `--lang NAME`, or without it from LC_ALL, LC_MESSAGES and LANG. Output
// for programs (--json, `mcp`, `describe`) is translated only with --help. With --json, `--lang`
// chooses the language of errors and warnings; the window runs its commands with both options.
// Moves the value of --lang from argv to `language`, which stays empty without --lang. Returns
// false after reporting an unknown name.
bool TranslateOutput(int& argc, char** argv, std::string& language);

// Begins to translate output, except with --json. `selfcheck` first compares the English output of
// other commands, and then calls this for its own output.
void TranslateLate();

// Returns the translation of a help text, or "" for an empty text.
std::string Translated(const std::string& english);

// Translates the text of an error in the arguments, which CLI11 writes in English.
std::string ErrorText(const CLI::ParseError& error);

// Translates the descriptions of `app`, its options and its commands.
void TranslateHelp(CLI::App& app);

}  // namespace vramscope::cli
