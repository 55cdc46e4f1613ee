#include "profiler/base/errno_text.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "profiler/base/i18n.h"

namespace vramscope::i18n {
namespace {

// A copy, because a later call of strerror() may free its text.
std::string SystemsText(int error) { return std::strerror(error); }

TEST(ErrnoText, IsTheSystemsTextInEnglish) {
  for (int error = 1; error <= EHWPOISON; ++error) {
    const std::string expected = SystemsText(error);
    EXPECT_EQ(ErrnoText(error), expected) << error;
  }
}

TEST(ErrnoText, TranslatesCommonErrors) {
  SetTranslator([](const std::string& english) { return "<" + english + ">"; });
  EXPECT_EQ(ErrnoText(ENOSPC), "<No space left on device>");
  EXPECT_EQ(ErrnoText(EHWPOISON), SystemsText(EHWPOISON)) << "not a common one";
  SetTranslator(nullptr);
}

}  // namespace
}  // namespace vramscope::i18n
