// The translations that were looked up. Used by language.cpp and retranslate.cpp.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>

namespace vramscope::ui {

// The arguments of one lookup of a translation.
struct AnsweredText {
  QByteArray context, source, disambiguation;
  int n = -1;
  friend bool operator==(const AnsweredText&, const AnsweredText&) = default;
};
using Answered = QHash<QString, QList<AnsweredText>>;  // key: the text that was displayed
// Returns the lookups of the time before the last SetLanguage(), in the language that it replaced.
const Answered& AnsweredBefore();
int LanguageChanges();  // number of language changes so far

}  // namespace vramscope::ui
