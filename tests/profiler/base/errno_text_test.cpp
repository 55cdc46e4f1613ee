#include "profiler/base/errno_text.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "profiler/base/i18n.h"

namespace vramscope::i18n {
namespace {

TEST(ErrnoText, IsTheSystemsTextInEnglish) {
  for (int error = 1; error <= EHWPOISON; ++error)
    EXPECT_EQ(ErrnoText(error), std::strerror(error)) << error;
}

TEST(ErrnoText, TranslatesCommonErrors) {
  SetTranslator([](const std::string& english) { return "<" + english + ">"; });
  EXPECT_EQ(ErrnoText(ENOSPC), "<No space left on device>");
  EXPECT_EQ(ErrnoText(EHWPOISON), std::strerror(EHWPOISON)) << "not a common one";
  SetTranslator(nullptr);
}

}  // namespace
}  // namespace vramscope::i18n
