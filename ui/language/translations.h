// What the catalogue answered: shared by language.cpp and retranslate.cpp.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>

namespace vramscope::ui {

// One question for a translation.
struct AnsweredText {
  QByteArray context, source, disambiguation;
  int n = -1;
  friend bool operator==(const AnsweredText&, const AnsweredText&) = default;
};
using Answered = QHash<QString, QList<AnsweredText>>;  // by the text that was given
// In the language before the last SetLanguage().
const Answered& AnsweredBefore();
int LanguageChanges();  // so many so far

}  // namespace vramscope::ui
