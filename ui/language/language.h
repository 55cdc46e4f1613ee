// The window's language: Qt's translations, those of resources/translations, and those of texts
// from code without Qt (profiler/base/i18n.h).
//
//   SetLanguage(LanguageOf(options.lang).value_or(SystemLanguage()));   // the application exists
//   MainWindow window(...);                                             // built in that language
//   SetLanguage(Language::kChinese);                                    // later: Retranslate()
//   follows
//
// UI thread only, except that translated texts may be asked for on any thread.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <optional>

class QObject;

namespace vramscope::ui {

enum class Language { kEnglish, kChinese };

const QList<Language>& Languages();  // those that this build has; English is always there
QString LanguageName(Language);      // "en", "zh_CN": as --lang takes it
QString LanguageTitle(Language);     // in itself: "English", "简体中文"
// "en", "zh", "zh_CN", "zh-Hans", "zh_CN.UTF-8"; none: another.
std::optional<Language> LanguageFromName(const QString& name);
// As LC_ALL, LC_MESSAGES, LANG say, in this order; English where they name another or none.
Language SystemLanguage();

Language CurrentLanguage();
void SetLanguage(Language language);
// The texts of code without Qt alone (i18n::Text), for a program without an application: the
// command line. SetLanguage() replaces it. False: this build has no such catalogue, the texts stay
// English.
bool TranslateTexts(Language language);
// For tests: every text as ⟦text~~~~⟧, 35 % longer.
void SetPseudoLanguage();

// The text that was translated in the language before, in the present one. `contexts`: class names,
// innermost first, that settle which of several English texts it was. None: it was no translated
// text.
std::optional<QString> Retranslated(const QString& text, const QStringList& contexts = {});
// Every text property, tab, item and action below `root`. Texts that are made of data are asked for
// again by whoever shows the data.
void Retranslate(QObject* root);

// A font of this computer has the language's characters.
bool FontsCover(Language language);

// Of static tables of profiler/ and the catalogue: their English text, translated.
QString Translated(const std::string& english);

}  // namespace vramscope::ui
