// The sampler with GPUs whose replies the test sets.
#include "nvml/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/nvml/fake_card.h"

FakeDriver g_fake;

namespace vramscope::nvml {
namespace {

const auto kUs = static_cast<unsigned>(getpid());

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    g_fake = {};
    ASSERT_EQ(sampler_.Open(), "");
  }
  GpuMemory Only() {
    const std::vector<GpuMemory> cards = sampler_.Now();
    EXPECT_EQ(cards.size(), 1u);
    return cards.empty() ? GpuMemory() : cards[0];
  }
  Sampler sampler_;
};

TEST_F(SamplerTest, AllThatThereIsToSay) {
  g_fake.cards = {
      {.total = 1000, .reserved = 30, .used = 500, .processes = {{1, 200}, {kUs, 300}}}};
  const GpuMemory card = Only();
  EXPECT_EQ(card.device, 0);
  EXPECT_EQ(card.total, 1000u);
  EXPECT_EQ(card.used, 500u);
  EXPECT_EQ(card.driver, 30u);
  EXPECT_EQ(card.process, 300u);
}

TEST_F(SamplerTest, CardsWithoutAContextAreLeftAlone) {
  g_fake.cards = {{.context = false}, {.used = 7}, {.context = false}};
  EXPECT_EQ(Only().device, 1);
  EXPECT_EQ(g_fake.asked, 1);
  g_fake.cards[0].context = true;
  EXPECT_EQ(sampler_.Now().size(), 2u);
}

TEST_F(SamplerTest, AnOlderDriver) {
  g_fake.second_version = false;
  g_fake.cards = {{.total = 1000, .reserved = 30, .used = 500, .processes = {{kUs, 300}}}};
  const GpuMemory card = Only();
  EXPECT_EQ(card.used, 530u);  // includes the memory that the driver reserves
  EXPECT_FALSE(card.driver.has_value());
}

TEST_F(SamplerTest, WhoseIsWhatInAContainer) {
  g_fake.cards = {{.used = 500, .processes = {{kUs + 1, 300}}}};
  EXPECT_EQ(Only().process, 300u);  // the only one: this process has a context there
  g_fake.cards[0].processes.push_back({kUs + 2, 100});
  EXPECT_FALSE(Only().process.has_value());
}

TEST_F(SamplerTest, WhereProcessesAreNotTold) {
  g_fake.cards = {{.used = 500, .processes = {{kUs, ~0ull}}}};
  EXPECT_FALSE(Only().process.has_value());
  g_fake.cards[0].processes.clear();
  EXPECT_FALSE(Only().process.has_value());
  g_fake.processes_error = 3;
  EXPECT_EQ(Only().used, 500u);
}

TEST_F(SamplerTest, ManyProcesses) {
  g_fake.cards = {{.used = 500}};
  for (unsigned i = 0; i < 1000; ++i) g_fake.cards[0].processes.push_back({kUs + i + 1, 1});
  g_fake.cards[0].processes.push_back({kUs, 42});
  EXPECT_EQ(Only().process, 42u);
}

}  // namespace
}  // namespace vramscope::nvml
