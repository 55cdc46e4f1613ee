// Tests that the shipped runs equal the plans of the current worker.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QEventLoop>

#include "profiler/run/run_config.h"
#include "profiler/setup/samples.h"
#include "profiler/trace/reader.h"
#include "trainer/backends/cuda/emulated_process.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

// Returns the first event at which the two traces differ in memory, or "" if there is none.
std::string FirstDifference(const trace::Trace& a, const trace::Trace& b) {
  const trace::EventTable &x = a.events, &y = b.events;
  for (trace::EventIndex i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x.kind[i] == y.kind[i] && x.id[i] == y.id[i] && x.category[i] == y.category[i] &&
        x.bytes[i] == y.bytes[i] && x.bytes_rounded[i] == y.bytes_rounded[i])
      continue;
    return "event " + std::to_string(i) + ": " + std::to_string(x.bytes[i]) + " bytes, now " +
           std::to_string(y.bytes[i]);
  }
  if (x.size() != y.size())
    return std::to_string(x.size()) + " events, now " + std::to_string(y.size());
  for (uint32_t i = 0; i < a.allocations.size(); ++i)
    if (a.allocations.address[i] != b.allocations.address[i])
      return "the address of allocation " + std::to_string(i);
  return "";
}

TEST(ShippedSamplesPlanned, EqualFreshPlansOfTheSameSettings) {
  const QString worker = QStringLiteral(VRAMSCOPE_REAL_WORKER);
  if (worker.isEmpty()) GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
  WorkerClient client(worker);
  std::shared_ptr<const trace::Trace> fresh;
  QString error;
  QEventLoop loop;
  QObject::connect(&client, &WorkerClient::runEnded,
                   [&](quint64, std::shared_ptr<const trace::Trace> trace, const QString& why) {
                     fresh = std::move(trace);
                     error = why;
                     loop.quit();
                   });
  client.start();
  const setup::Samples samples = setup::Samples::In(VRAMSCOPE_SOURCE_DIR "/resources/samples");
  ASSERT_FALSE(samples.empty());
  for (const std::string& file : samples.Files()) {
    const auto shipped = trace::ReadTraceFile(file, {});
    ASSERT_TRUE(shipped.ok()) << shipped.status();
    EXPECT_TRUE((*shipped)->complete) << file;
    client.run((*shipped)->info.config);
    loop.exec();
    ASSERT_TRUE(error.isEmpty() && fresh != nullptr) << file << ": " << error.toStdString();
    EXPECT_EQ(FirstDifference(**shipped, *fresh), "")
        << file << ": plan the samples anew with resources/samples/make.py";
  }
}

// In the worker's process, each kind of GPU takes up a device number, and there are not many. When
// no number is left, another process must replace this process without a message.
TEST(RealWorker, PlansForMoreGpusThanOneProcessSupports) {
  const QString worker = QStringLiteral(VRAMSCOPE_REAL_WORKER);
  if (worker.isEmpty()) GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
  std::shared_ptr<const trace::Trace> trace;
  QString error;
  QStringList lost;
  QEventLoop loop;
  const auto plan = [&](WorkerClient& client, const std::string& device) {
    run::RunConfigBuilder builder;
    EXPECT_TRUE(builder.SetPreset("basics-medium").ok());
    EXPECT_TRUE(builder.Set("device", device).ok());
    EXPECT_TRUE(builder.Set("steps", "1").ok());
    client.run(builder.Build().value());
    loop.exec();
    return trace;
  };
  const auto listen = [&](WorkerClient& client) {
    QObject::connect(&client, &WorkerClient::runEnded,
                     [&](quint64, std::shared_ptr<const trace::Trace> ended, const QString& why) {
                       trace = std::move(ended);
                       error = why;
                       loop.quit();
                     });
    QObject::connect(&client, &WorkerClient::workerLost, [&](const QString& why) { lost << why; });
    client.start();
  };
  const auto kind = [](int multiprocessors) {
    return "memory=8GiB,compute_capability=8.6,multiprocessors=" + std::to_string(multiprocessors);
  };
  WorkerClient client(worker);
  listen(client);
  const int kinds =
      trainer::kPlannedDevices;  // one more than a process supports: number 0 is not used
  qint64 process = 0;
  int replaced_at = 0;
  for (int i = 1; i <= kinds; ++i) {
    plan(client, kind(i));
    ASSERT_EQ(error.toStdString(), "") << i;
    ASSERT_TRUE(trace != nullptr && trace->complete) << i;
    EXPECT_EQ(trace->info.device.sm_count, static_cast<uint32_t>(i));
    if (i > 1 && client.processId() != process) replaced_at = i;
    process = client.processId();
  }
  ASSERT_GT(replaced_at, 0);
  EXPECT_TRUE(lost.isEmpty()) << lost.join(QLatin1Char('\n')).toStdString();
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  QCoreApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
