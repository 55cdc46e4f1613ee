// Translates user-visible texts in code without Qt. The source contains the English text. The
// window and the command line install a translator.
//
//   facts.push_back({i18n::Text("largest hole"), bytes});
//   return i18n::Format("{} of {} reserved are not in use", free, reserved);
//
// resources/translations/update.py collects the literals of these calls. A text in a constant table
// is marked with TEXT_MARK("...") and translated where it is shown. Text in files and JSON is never
// translated. A text that is both stored and shown is first formatted in English, and then
// translated where it is shown:
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

// Returns the translation of an English text, or "" if there is none. Any thread may call it.
using Translator = std::string (*)(const std::string& english);
// If `translator` is null, texts are English again. Texts that were returned before stay valid.
void SetTranslator(Translator translator);

// While an InEnglish object exists, the thread that made it gets English texts. Used to write
// files.
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

// Like fmt::format, but translates the format. The English format is checked at compile time. It is
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

// Translates a marked text, or the result of a format that was passed to English() or Know().
// An argument of the format is translated in the same way if it has several words, or if it is the
// last one and the format ends with ": {}". Of a text "A: B" that fits no format, A (if it has
// several words) and B are translated separately. Other texts are returned unchanged.
std::string Shown(std::string_view english);

// Registers formats for Shown(). Needed to translate texts that another process formatted and
// stored in a file. Each format must be marked with TEXT_MARK, and must contain a word, because a
// format such as "{}: {}" would fit too many texts. Registering a format again has no effect.
void Know(std::span<const std::string_view> formats);

}  // namespace vramscope::i18n
