// Texts that a person reads, from code without Qt. English stands in the source; the window
// installs a translator, the command line does not.
//
//   facts.push_back({i18n::Text("largest hole"), bytes});
//   return i18n::Format("{} of {} reserved are not in use", free, reserved);
//
// resources/translations/update.py collects the literals of these calls. A text in a table that is
// filled before the program starts is marked with TEXT_MARK("...") and translated where it is
// shown. What is written to a file or to JSON is never translated. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

// The text as it is; update.py collects it.
#define TEXT_MARK(text) text

namespace vramscope::i18n {

// The translation of an English text; empty: there is none. Called from any thread.
using Translator = std::string (*)(const std::string& english);
// Null: English. The window calls it on its thread; texts that were given out stay valid.
void SetTranslator(Translator translator);

// While one is there, the thread that made it gets English: what it writes is a file for others.
class InEnglish {
 public:
  InEnglish();
  ~InEnglish();
  InEnglish(const InEnglish&) = delete;
  InEnglish& operator=(const InEnglish&) = delete;
};

// Lives as long as the process.
const std::string& Text(std::string_view english);

namespace internal {
std::string FormatTranslated(const std::string& english, fmt::format_args arguments);
}

// As fmt::format. The English text is checked when it is compiled; a translation that does not fit
// the arguments is replaced by the English text.
template <typename... Args>
std::string Format(fmt::format_string<Args...> english, Args&&... arguments) {
  const fmt::string_view text = english;
  return internal::FormatTranslated(std::string(text.data(), text.size()),
                                    fmt::make_format_args(arguments...));
}

}  // namespace vramscope::i18n
