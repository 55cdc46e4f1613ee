#include "profiler/base/i18n.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "profiler/base/output_language.h"

namespace vramscope::i18n {
namespace {

std::string Upper(const std::string& english) {
  if (english == "blocks") return "BLOCKS";
  return english == "{} of {} blocks" ? "{1} BLOCKS, {0}" : "";
}

class KeptEnglish : public ::testing::Test {
 protected:
  void SetUp() override {
    SetTranslator(Upper);
    KeepEnglish(true);
  }
  void TearDown() override {
    KeepEnglish(false);
    SetTranslator(nullptr);
  }
};

TEST_F(KeptEnglish, AppliesToAllThreads) {
  std::string other;
  std::thread([&] { other = Text("blocks"); }).join();
  EXPECT_EQ(other, "blocks");
  EXPECT_EQ(Text("blocks"), "blocks");
  EXPECT_EQ(Format("{} of {} blocks", 1, 2), "1 of 2 blocks");
  KeepEnglish(false);
  EXPECT_EQ(Text("blocks"), "BLOCKS");
}

TEST_F(KeptEnglish, MessagesAreTranslatedAfterwards) {
  const std::string message = Format("{} of {} blocks", 1, 2);
  EXPECT_EQ(Shown(message), "1 of 2 blocks");
  {
    const InLanguage translated;
    EXPECT_EQ(Text("blocks"), "BLOCKS");
    EXPECT_EQ(Shown(message), "2 BLOCKS, 1");
    const InEnglish file;
    EXPECT_EQ(Text("blocks"), "blocks") << "a file is in English even within a message";
  }
  EXPECT_EQ(Text("blocks"), "blocks");
}

}  // namespace
}  // namespace vramscope::i18n
