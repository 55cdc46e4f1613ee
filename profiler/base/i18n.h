// Translates user-visible texts in code without Qt. The source contains the English text. The
// window and the command line install a translator.
//
//   facts.push_back({i18n::Text("largest hole"), bytes});
//   return i18n::Format("{} of {} reserved are not in use", free, reserved);
//
// resources/translations/update.py collects the literals of these calls. A text in a table that is
// filled before the program starts is marked with TEXT_MARK("...") and translated where it is
// shown. Text in files and JSON is never translated. A text that is both stored and shown is first
// formatted in English, and then translated where it is shown:
//
//   trace.warnings.push_back(i18n::English("{} rows are left out", rows));
//   print(i18n::Shown(trace.warnings.front()));
//
// Thread-safe.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

// Evaluates to the text itself, which update.py collects.
#define TEXT_MARK(text) text

namespace vramscope::i18n {

// Returns the translation of an English text, or "" if there is none. Called from any thread.
using Translator = std::string (*)(const std::string& english);
// If `translator` is null, restores English. Texts that were returned before stay valid.
void SetTranslator(Translator translator);

// While an InEnglish object exists, its thread gets English texts. Used for files.
class InEnglish {
 public:
  InEnglish();
  ~InEnglish();
  InEnglish(const InEnglish&) = delete;
  InEnglish& operator=(const InEnglish&) = delete;
};

// Returns the translation of the text. The reference is valid until the process ends.
const std::string& Text(std::string_view english);

namespace internal {
std::string FormatTranslated(const std::string& english, fmt::format_args arguments);
std::string FormatEnglish(std::string_view english, fmt::format_args arguments);
}  // namespace internal

// Like fmt::format, but translates the format. The English text is checked at compile time, and is
// used if its translation does not match the arguments.
template <typename... Args>
std::string Format(fmt::format_string<Args...> english, Args&&... arguments) {
  const fmt::string_view text = english;
  return internal::FormatTranslated(std::string(text.data(), text.size()),
                                    fmt::make_format_args(arguments...));
}

// Like fmt::format. The result is English, and Shown() can translate it later in this process.
template <typename... Args>
std::string English(fmt::format_string<Args...> english, Args&&... arguments) {
  const fmt::string_view text = english;
  return internal::FormatEnglish(std::string_view(text.data(), text.size()),
                                 fmt::make_format_args(arguments...));
}

// Translates a marked text, or the result of a format that was passed to English() or Know(). Also
// translates arguments of several words, and the parts before and after a colon, if these are
// marked texts. Returns other texts unchanged.
std::string Shown(std::string_view english);

// Registers formats for Shown(). Needed for texts in a file that another process has made from
// these formats. Each format contains a word and is marked with TEXT_MARK. Repeated calls have no
// effect.
void Know(std::span<const std::string_view> formats);

}  // namespace vramscope::i18n
