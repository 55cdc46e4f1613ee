// The shipped runs are what the worker plans today.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QEventLoop>

#include "profiler/setup/samples.h"
#include "profiler/trace/reader.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

// The first event in which they differ, in what is said of memory; "": in none.
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

TEST(ShippedSamplesPlanned, AreEqualToAFreshPlanOfTheSameSettings) {
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

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  QCoreApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
