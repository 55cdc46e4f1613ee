// Tests the sampler with replacements of the GPU's libraries, whose replies the tests set.
#include "nvml/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/nvml/fake_card.h"

FakeDriver g_fake;

namespace vramscope::nvml {
namespace {

const auto kOwnPid = static_cast<unsigned>(getpid());

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    g_fake = {};
    ASSERT_EQ(sampler_.Open(), "");
  }
  GpuMemory Only() {
    const std::vector<GpuMemory> gpus = sampler_.Now();
    EXPECT_EQ(gpus.size(), 1u);
    return gpus.empty() ? GpuMemory() : gpus[0];
  }
  Sampler sampler_;
};

TEST_F(SamplerTest, ReportsAllFigures) {
  g_fake.gpus = {
      {.total = 1000, .reserved = 30, .used = 500, .processes = {{1, 200}, {kOwnPid, 300}}}};
  const GpuMemory gpu = Only();
  EXPECT_EQ(gpu.device, 0);
  EXPECT_EQ(gpu.total, 1000u);
  EXPECT_EQ(gpu.used, 500u);
  EXPECT_EQ(gpu.driver, 30u);
  EXPECT_EQ(gpu.process, 300u);
}

TEST_F(SamplerTest, SkipsGpusWithoutContext) {
  g_fake.gpus = {{.context = false}, {.used = 7}, {.context = false}};
  EXPECT_EQ(Only().device, 1);
  EXPECT_EQ(g_fake.queries, 1);
  g_fake.gpus[0].context = true;
  EXPECT_EQ(sampler_.Now().size(), 2u);
}

TEST_F(SamplerTest, UsedIncludesReservedMemoryOnOlderDrivers) {
  g_fake.second_version = false;
  g_fake.gpus = {{.total = 1000, .reserved = 30, .used = 500, .processes = {{kOwnPid, 300}}}};
  const GpuMemory gpu = Only();
  EXPECT_EQ(gpu.used, 530u);  // includes the memory that the driver reserves
  EXPECT_FALSE(gpu.driver.has_value());
}

TEST_F(SamplerTest, AttributesMemoryOfTheOnlyProcessInContainer) {
  g_fake.gpus = {{.used = 500, .processes = {{kOwnPid + 1, 300}}}};
  EXPECT_EQ(Only().process, 300u);  // the only process on a GPU on which this process has a context
  g_fake.gpus[0].processes.push_back({kOwnPid + 2, 100});
  EXPECT_FALSE(Only().process.has_value());
}

TEST_F(SamplerTest, HandlesUnavailableProcessFigures) {
  g_fake.gpus = {{.used = 500, .processes = {{kOwnPid, ~0ull}}}};
  EXPECT_FALSE(Only().process.has_value());
  g_fake.gpus[0].processes.clear();
  EXPECT_FALSE(Only().process.has_value());
  g_fake.processes_error = 3;
  EXPECT_EQ(Only().used, 500u);
}

TEST_F(SamplerTest, FindsOwnAmongManyProcesses) {
  g_fake.gpus = {{.used = 500}};
  for (unsigned i = 0; i < 1000; ++i) g_fake.gpus[0].processes.push_back({kOwnPid + i + 1, 1});
  g_fake.gpus[0].processes.push_back({kOwnPid, 42});
  EXPECT_EQ(Only().process, 42u);
}

}  // namespace
}  // namespace vramscope::nvml
