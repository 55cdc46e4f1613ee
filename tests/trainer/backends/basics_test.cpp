// Compares one training step of the basics model with recordings of this step on a GPU, event by
// event: kind, bytes and tensor. Others made the recordings, which are not part of the repository.
// Without them, the tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "profiler/analysis/requests.h"
#include "profiler/run/run_config.h"
#include "profiler/trace/builder_sink.h"
#include "trainer/trainer.h"

namespace vramscope::trainer {
namespace {

std::string Decompress(const std::string& compressed) {
  std::string text;
  ZSTD_DStream* stream = ZSTD_createDStream();
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in))) break;
    text.append(chunk.data(), out.pos);
  }
  ZSTD_freeDStream(stream);
  return text;
}

Trainer& SharedTrainer() {
  static auto* trainer = new Trainer;
  return *trainer;
}

class BasicsRecording : public ::testing::TestWithParam<int> {};

TEST_P(BasicsRecording, StepMatchesRecordingEventForEvent) {
  const int context = GetParam();
  const std::filesystem::path path =
      std::filesystem::path(VRAMSCOPE_SOURCE_DIR) / "../shared/reference" /
      ("medium_" + std::to_string(context) + "_training_requests.csv.zst");
  std::ifstream file(path, std::ios::binary);
  if (!file) GTEST_SKIP() << "no recording beside the repository: " << path.filename();
  std::stringstream bytes;
  bytes << file.rdbuf();
  const auto recorded = analysis::ReadRequestsCsv(Decompress(bytes.str()));
  ASSERT_TRUE(recorded.ok()) << recorded.status().message();

  run::RunConfigBuilder builder;
  ASSERT_TRUE(builder.SetPreset("basics-medium").ok());
  ASSERT_TRUE(builder.Set("seq", std::to_string(context)).ok());
  const auto config = builder.Build();
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->steps, 6);
  trace::BuilderSink sink;
  const absl::Status status = SharedTrainer().Run(*config, sink, {});
  ASSERT_TRUE(status.ok()) << status.message();
  const auto planned = analysis::RequestsOfStep(*sink.Trace(), std::nullopt);
  ASSERT_TRUE(planned.ok());
  const auto last = analysis::RequestsOfStep(*sink.Trace(), -1);
  ASSERT_TRUE(last.ok()) << last.status().message();

  const analysis::RequestDiff diff = analysis::DiffRequests(*last, *recorded);
  for (const auto& d : diff.first_differences) {
    ADD_FAILURE() << d.index_a << ": plan " << d.a << " | recorded " << d.index_b << ": " << d.b;
  }
  EXPECT_TRUE(diff.identical()) << diff.equal << " of " << diff.total;
  EXPECT_EQ(diff.peak_a, diff.peak_b);
  EXPECT_GT(diff.total, 10000u);
}

INSTANTIATE_TEST_SUITE_P(Contexts, BasicsRecording, ::testing::Values(128, 256),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace vramscope::trainer
