// Chooses between English and translated texts in a process that prints results for programs and
// messages for people, such as `vramscope info --json --lang zh_CN`.
//
//   i18n::KeepEnglish(true);                // results are English from now on
//   const i18n::InLanguage translated;      // until the end of this block, texts are translated
//
// KeepEnglish() is called while no other thread formats texts. The other functions: any thread.
#pragma once

#include "profiler/base/i18n.h"

namespace vramscope::i18n {

// With true, all threads get English texts from now on. With false, they get translations again.
void KeepEnglish(bool keep);
// Whether KeepEnglish(true) is in force.
bool KeepsEnglish();

// While an InLanguage object exists, its thread gets translations in spite of KeepEnglish(), and
// Shown() translates what the process has formatted.
class InLanguage {
 public:
  InLanguage();
  ~InLanguage();
  InLanguage(const InLanguage&) = delete;
  InLanguage& operator=(const InLanguage&) = delete;
};

}  // namespace vramscope::i18n
