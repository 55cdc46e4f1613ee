// The window's language. It has translations of Qt's own texts, of the window's texts
// (resources/translations), and of texts from code without Qt (profiler/base/i18n.h).
//
//   SetLanguage(LanguageOf(options.lang).value_or(SystemLanguage()));   // the application exists
//   MainWindow window(...);                                             // built in that language
//   SetLanguage(Language::kChinese);                                    // then: Retranslate()
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

const QList<Language>& Languages();  // languages of this build, among them always English
QString LanguageName(Language);      // "en", "zh_CN": the value of --lang
QString LanguageTitle(Language);     // in the language itself: "English", "简体中文"
// Accepts names such as "en", "zh", "zh_CN", "zh-Hans", "zh_CN.UTF-8". nullopt: another language.
std::optional<Language> LanguageFromName(const QString& name);
// Reads the first of LC_ALL, LC_MESSAGES, LANG that is set. English if it is not in Languages().
Language SystemLanguage();

Language CurrentLanguage();
void SetLanguage(Language language);
// Translates only the texts of code without Qt (i18n::Text), for the command line, which has no
// QApplication. SetLanguage() replaces this translation. Returns false if this build has no such
// catalogue; the texts then stay English.
bool TranslateTexts(Language language);
// For tests: every text becomes ⟦text~~~~⟧, 35 % longer.
void SetPseudoLanguage();

// Translates `text` from the previous language into the current one. If several English texts have
// the translation `text`, `contexts` chooses one: class names, innermost first. nullopt: `text` is
// no translation.
std::optional<QString> Retranslated(const QString& text, const QStringList& contexts = {});
// Updates every text property, tab, item and action below `root`. Texts that depend on data are
// rebuilt by the pages themselves.
void Retranslate(QObject* root);

// Returns whether a font of this computer has the characters of the language.
bool FontsCover(Language language);

// Removes "vramscope: error: ", in English or in the current language, from what a command printed.
QString WithoutErrorPrefix(QString text);

// Translates an English text from a static table in profiler/ or from the catalogue.
QString Translated(const std::string& english);

}  // namespace vramscope::ui
