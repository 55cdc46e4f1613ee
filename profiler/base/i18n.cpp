#include "profiler/base/i18n.h"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace vramscope::i18n {
namespace {

struct Texts {
  std::shared_mutex mutex;
  Translator translator = nullptr;
  std::unordered_map<std::string, const std::string*> shown;  // by the English text
  // Every text ever returned: a change of the language frees none, because callers hold references.
  std::unordered_map<std::string, std::unique_ptr<const std::string>> kept;
};

Texts& TheTexts() {
  static auto* const texts = new Texts;  // never destroyed: still used while the program ends
  return *texts;
}

thread_local int in_english = 0;

}  // namespace

InEnglish::InEnglish() { ++in_english; }
InEnglish::~InEnglish() { --in_english; }

void SetTranslator(Translator translator) {
  Texts& texts = TheTexts();
  const std::unique_lock lock(texts.mutex);
  texts.translator = translator;
  texts.shown.clear();
}

const std::string& Text(std::string_view english) {
  Texts& texts = TheTexts();
  const std::string key(english);
  Translator translator = nullptr;
  if (in_english == 0) {
    const std::shared_lock lock(texts.mutex);
    if (const auto found = texts.shown.find(key); found != texts.shown.end()) return *found->second;
    translator = texts.translator;
  }
  std::string text = translator != nullptr ? translator(key) : std::string();
  if (text.empty()) text = key;
  const std::unique_lock lock(texts.mutex);
  std::unique_ptr<const std::string>& kept = texts.kept[text];
  if (kept == nullptr) kept = std::make_unique<const std::string>(text);
  if (translator == texts.translator && in_english == 0) texts.shown[key] = kept.get();
  return *kept;
}

namespace internal {

std::string FormatTranslated(const std::string& english, fmt::format_args arguments) {
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
