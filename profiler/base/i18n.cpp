#include "profiler/base/i18n.h"

#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "profiler/base/output_language.h"

namespace vramscope::i18n {
namespace {

// The text of a format between its placeholders. literals[i] precedes the argument with number
// arguments[i].
struct Pieces {
  std::vector<std::string> literals = {std::string()};
  std::vector<size_t> arguments;
  size_t size = 0;  // total length of the literals
};

Pieces PiecesOf(std::string_view format) {
  Pieces out;
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    const bool twice = (c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c;
    const size_t end = c == '{' && !twice ? format.find('}', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out.literals.back() += c;
      ++out.size;
      i += twice ? 1 : 0;
      continue;
    }
    size_t number = out.arguments.size();  // for "{}" and "{:.1f}"; "{1}" contains its number
    std::from_chars(format.data() + i + 1, format.data() + end, number);
    out.arguments.push_back(number);
    out.literals.emplace_back();
    i = end;
  }
  return out;
}

// Returns the arguments with which the format produces `text`, or nullopt if there are none.
std::optional<std::vector<std::string_view>> ArgumentsIn(std::string_view text,
                                                         const Pieces& format) {
  const std::vector<std::string>& literals = format.literals;
  if (!text.starts_with(literals.front())) return std::nullopt;
  text.remove_prefix(literals.front().size());
  if (literals.size() == 1 || !text.ends_with(literals.back())) return std::nullopt;
  text.remove_suffix(literals.back().size());
  std::vector<std::string_view> arguments;
  for (size_t i = 1; i + 1 < literals.size(); ++i) {
    const size_t at = text.find(literals[i]);
    if (at == std::string_view::npos) return std::nullopt;
    arguments.push_back(text.substr(0, at));
    text.remove_prefix(at + literals[i].size());
  }
  arguments.push_back(text);
  return arguments;
}

struct Texts {
  std::shared_mutex mutex;
  Translator translator = nullptr;
  std::unordered_map<std::string, const std::string*> shown;  // keyed by the English text
  // All texts that Text() has returned. They are never freed, even if the language changes, because
  // callers keep references to them.
  std::unordered_map<std::string, std::unique_ptr<const std::string>> kept;
  std::unordered_map<std::string, Pieces> formats;  // passed to English() and Know()
};

Texts& TheTexts() {
  static auto* const texts = new Texts;  // never destroyed, as it is used while the program ends
  return *texts;
}

thread_local int in_english = 0, in_language = 0;
std::atomic<bool> keep_english = false;

bool IsEnglish() { return in_english > 0 || (keep_english && in_language == 0); }

// If null, texts stay English.
Translator TheTranslator() {
  if (IsEnglish()) return nullptr;
  Texts& texts = TheTexts();
  const std::shared_lock lock(texts.mutex);
  return texts.translator;
}

// Returns "" if there is no translation. Unlike Text(), does not store the results, because their
// number has no limit.
std::string TranslationOf(const std::string& english) {
  const Translator translator = TheTranslator();
  return translator != nullptr && !english.empty() ? translator(english) : std::string();
}

void KnowFormat(std::string_view format) {
  Texts& texts = TheTexts();
  std::string key(format);
  {
    const std::shared_lock lock(texts.mutex);
    if (texts.formats.contains(key)) return;
  }
  Pieces pieces = PiecesOf(format);
  if (pieces.arguments.empty()) return;  // Shown() translates such a text without a format
  const std::unique_lock lock(texts.mutex);
  texts.formats.try_emplace(std::move(key), std::move(pieces));
}

// The format that produces a text. Of several such formats, this is the one with the longest
// literals.
struct Found {
  std::string format;
  size_t size = 0;
  std::vector<std::string_view> arguments;
  bool text_last = false;  // the last argument follows a colon
};

// Returns whether an argument has several words. Such an argument may be a text and not a name.
bool IsText(std::string_view argument) { return argument.find(' ') != std::string_view::npos; }

Found FormatOf(std::string_view text) {
  Texts& texts = TheTexts();
  Found best;
  const std::shared_lock lock(texts.mutex);
  for (const auto& [format, pieces] : texts.formats) {
    if (pieces.size <= best.size) continue;
    std::optional<std::vector<std::string_view>> arguments = ArgumentsIn(text, pieces);
    if (arguments) best = {format, pieces.size, *std::move(arguments), format.ends_with(": {}")};
  }
  return best;
}

}  // namespace

InEnglish::InEnglish() { ++in_english; }
InEnglish::~InEnglish() { --in_english; }

void KeepEnglish(bool keep) { keep_english = keep; }
bool KeepsEnglish() { return keep_english; }
InLanguage::InLanguage() { ++in_language; }
InLanguage::~InLanguage() { --in_language; }

void SetTranslator(Translator translator) {
  Texts& texts = TheTexts();
  const std::unique_lock lock(texts.mutex);
  texts.translator = translator;
  texts.shown.clear();
}

const std::string& Text(std::string_view english) {
  Texts& texts = TheTexts();
  const std::string key(english);
  const bool stays_english = IsEnglish();
  Translator translator = nullptr;
  {
    const std::shared_lock lock(texts.mutex);
    if (stays_english) {
      if (const auto found = texts.kept.find(key); found != texts.kept.end()) return *found->second;
    } else {
      if (const auto found = texts.shown.find(key); found != texts.shown.end())
        return *found->second;
      translator = texts.translator;
    }
  }
  std::string text = translator != nullptr ? translator(key) : std::string();
  if (text.empty()) text = key;
  const std::unique_lock lock(texts.mutex);
  std::unique_ptr<const std::string>& kept = texts.kept[text];
  if (kept == nullptr) kept = std::make_unique<const std::string>(text);
  if (translator == texts.translator && !stays_english) texts.shown[key] = kept.get();
  return *kept;
}

std::string Shown(std::string_view english) {
  constexpr size_t kMost = 1024;
  constexpr std::string_view kColon = ": ";
  const std::string text(english);
  if (english.size() > kMost || TheTranslator() == nullptr) return text;
  if (const std::string whole = TranslationOf(text); !whole.empty()) return whole;
  const Found found = FormatOf(english);
  if (const std::string translation = TranslationOf(found.format); !translation.empty()) {
    std::vector<std::string> arguments;
    for (size_t i = 0; i < found.arguments.size(); ++i) {
      const std::string_view argument = found.arguments[i];
      const bool is_text = IsText(argument) || (found.text_last && i + 1 == found.arguments.size());
      arguments.push_back(is_text ? Shown(argument) : std::string(argument));
    }
    // The first argument also contains a name that precedes the text ("rank 3: ...").
    std::string out;
    if (found.format.starts_with("{}") && arguments.front() == found.arguments.front())
      if (const size_t colon = arguments.front().rfind(kColon); colon != std::string::npos) {
        out = arguments.front().substr(0, colon + kColon.size());
        arguments.front().erase(0, colon + kColon.size());
      }
    const Pieces pieces = PiecesOf(translation);
    out += pieces.literals.front();
    bool fits = true;
    for (size_t i = 0; i < pieces.arguments.size() && fits; ++i) {
      fits = pieces.arguments[i] < arguments.size();
      if (fits) out += arguments[pieces.arguments[i]] + pieces.literals[i + 1];
    }
    if (fits) return out;
  }
  // The text may follow a name, as in "rank 3: ...".
  if (const size_t colon = english.find(kColon); colon != std::string_view::npos) {
    const size_t begin = colon + kColon.size();
    const std::string_view before = english.substr(0, colon);
    return (IsText(before) ? Shown(before) : std::string(before)) + std::string(kColon) +
           Shown(english.substr(begin));
  }
  return text;
}

void Know(std::span<const std::string_view> formats) {
  for (const std::string_view format : formats) KnowFormat(format);
}

namespace internal {

std::string FormatEnglish(std::string_view english, fmt::format_args arguments) {
  KnowFormat(english);
  return fmt::vformat(fmt::string_view(english.data(), english.size()), arguments);
}

std::string FormatTranslated(const std::string& english, fmt::format_args arguments) {
  if (IsEnglish()) KnowFormat(english);  // Shown() may later translate the result
  const std::string& text = Text(english);
  if (text != english) {
    try {
      return fmt::vformat(text, arguments);
    } catch (const fmt::format_error&) {  // the translation has a placeholder without an argument
    }
  }
  return fmt::vformat(english, arguments);
}

}  // namespace internal
}  // namespace vramscope::i18n
