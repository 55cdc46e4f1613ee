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

// Reads the language from `--lang NAME`, else from LC_ALL, LC_MESSAGES and LANG. Output that
// programs read is not translated (--json, `mcp`, `describe`, `selfcheck`), unless --help is given.
// Moves --lang from argv to `language`, which is empty if --lang is not given. If the name is
// unknown, reports that and returns false.
bool TranslateOutput(int& argc, char** argv, std::string& language);

// Begins to translate output. `selfcheck` calls this before its own output, after it has compared
// the English output of other commands. Has no effect with --json.
void TranslateLate();

// The translation of a help text; "" for an empty text.
std::string Translated(const std::string& english);

// Translates the text of an error in the arguments, which CLI11 writes in English.
std::string ErrorText(const CLI::ParseError& error);

// Translates the descriptions of `app`, its options and its commands.
void TranslateHelp(CLI::App& app);

}  // namespace vramscope::cli
