// The window's language. It applies to Qt's own texts, to the window's texts
// (resources/translations), and to texts from code without Qt (profiler/base/i18n.h).
//
//   SetLanguage(LanguageOf(options.lang).value_or(SystemLanguage()));   // after the application
//   MainWindow window(...);                                             // built in that language
//   SetLanguage(Language::kChinese);                                    // then call Retranslate()
//
// UI thread only, except that texts may be translated on any thread.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <optional>

class QObject;

namespace vramscope::ui {

enum class Language { kEnglish, kChinese };

const QList<Language>& Languages();  // the languages of this build; English is always among them
QString LanguageName(Language);      // "en", "zh_CN": the value of --lang
QString LanguageTitle(Language);     // in the language itself: "English", "简体中文"
// Returns the language of a name such as "zh", "zh_CN", "zh-Hans", "zh_CN.UTF-8", or nullopt.
std::optional<Language> LanguageFromName(const QString& name);
// Reads the first variable of LC_ALL, LC_MESSAGES, LANG that is set. Returns English if its
// language is not in Languages().
Language SystemLanguage();

Language CurrentLanguage();
void SetLanguage(Language language);
// Translates only texts from code without Qt (i18n::Text). It is for the command line, which has no
// QApplication. SetLanguage() replaces this translation. If this build lacks the language's
// catalogue, returns false, and the texts stay English.
bool TranslateTexts(Language language);
// For tests: every text becomes ⟦text~~~~⟧, 35 % longer.
void SetPseudoLanguage();

// Translates `text`, a text in the previous language, into the current language. If several English
// texts have `text` as their translation, `contexts` (class names, the innermost first) selects one
// of them. Returns nullopt if `text` is not a translation.
std::optional<QString> Retranslated(const QString& text, const QStringList& contexts = {});
// Updates every text property, tab, item and action below `root`. Texts that depend on data are
// rebuilt by the pages themselves.
void Retranslate(QObject* root);

// Returns whether a font of this computer has the characters of the language.
bool FontsCover(Language language);

// `text`: what a command printed. Removes "vramscope: error: " from it, in English or in the
// current language.
QString WithoutErrorPrefix(QString text);

// Translates an English text from a static table in profiler/ or from the catalogue.
QString Translated(const std::string& english);

}  // namespace vramscope::ui
