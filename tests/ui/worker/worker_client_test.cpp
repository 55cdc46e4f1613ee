// Tests the client with a worker that, on demand, crashes, hangs, sends garbage, or is slow.
#include "ui/worker/worker_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTemporaryDir>
#include <QTimer>
#include <functional>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"

namespace vramscope::ui {
namespace {

constexpr int kWaitMs = 60'000;

run::RunConfig Named(const char* model, int steps = 3) {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetModelConfig(model, "{}").ok());
  EXPECT_TRUE(builder.Set("steps", std::to_string(steps)).ok());
  return builder.Build().value();
}

struct End {
  quint64 tag;
  std::shared_ptr<const trace::Trace> trace;
  QString error;
  int code;
};

class WorkerClientTest : public ::testing::Test {
 protected:
  void SetUp() override { qunsetenv("VRAMSCOPE_FAKE"); }
  void TearDown() override { qunsetenv("VRAMSCOPE_FAKE"); }

  WorkerClient& Make(const QString& program = QStringLiteral(VRAMSCOPE_FAKE_WORKER)) {
    client_ = std::make_unique<WorkerClient>(program);
    QObject::connect(
        client_.get(), &WorkerClient::runEnded,
        [this](quint64 tag, std::shared_ptr<const trace::Trace> trace, const QString& error) {
          ends_.push_back({tag, std::move(trace), error, client_->lastStatusCode()});
        });
    QObject::connect(client_.get(), &WorkerClient::workerLost,
                     [this](const QString& what) { lost_ << what; });
    QObject::connect(client_.get(), &WorkerClient::partialTrace, [this] { ++partials_; });
    QObject::connect(client_.get(), &WorkerClient::runStarted,
                     [this](quint64 tag) { started_.push_back(tag); });
    return *client_;
  }

  bool WaitFor(const std::function<bool()>& what, int limit_ms = kWaitMs) {
    QElapsedTimer since;
    since.start();
    while (!what() && since.elapsed() < limit_ms)
      QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
    return what();
  }
  bool WaitForEnds(size_t n) {
    return WaitFor([this, n] { return ends_.size() >= n; });
  }

  std::unique_ptr<WorkerClient> client_;
  std::vector<End> ends_;
  std::vector<quint64> started_;
  QStringList lost_;
  int partials_ = 0;
};

TEST_F(WorkerClientTest, RunsReturnTracesFromOneProcess) {
  WorkerClient& client = Make();
  client.start();
  const quint64 first = client.run(Named("a"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].tag, first);
  EXPECT_EQ(ends_[0].error, "");
  EXPECT_EQ(ends_[0].code, 0);
  EXPECT_TRUE(ends_[0].trace->complete);
  EXPECT_EQ(ends_[0].trace->info.config.model, "a");
  EXPECT_FALSE(client.busy());
  const qint64 pid = client.processId();
  client.run(Named("b"));
  ASSERT_TRUE(WaitForEnds(2));
  EXPECT_EQ(ends_[1].trace->info.config.model, "b");
  EXPECT_EQ(client.processId(), pid) << "the process is reused";
  EXPECT_EQ(client.workerVersion(), "fake");
  EXPECT_TRUE(WaitFor([&] { return client.log().contains(QLatin1String("run 2: b")); }));
}

TEST_F(WorkerClientTest, NewRunReplacesTheOneInProgress) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("slow", 500));
  ASSERT_TRUE(WaitFor([this] { return started_.size() == 1; }));
  client.run(Named("slow", 500));
  const quint64 last = client.run(Named("quick"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].tag, last);
  EXPECT_EQ(ends_[0].trace->info.config.model, "quick");
  EXPECT_EQ(ends_.size(), 1u) << "replaced jobs have no result";
  EXPECT_TRUE(lost_.isEmpty());
}

// A process that cannot make a run requests its replacement. The new process must make the run.
TEST_F(WorkerClientTest, ReplacesProcessOnRequestWithoutAnError) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("first"));
  ASSERT_TRUE(WaitForEnds(1));
  const qint64 before = client.processId();
  const quint64 tag = client.run(Named("worn-out"));
  ASSERT_TRUE(WaitForEnds(2));
  EXPECT_EQ(ends_[1].tag, tag);
  EXPECT_EQ(ends_[1].error, "");
  ASSERT_NE(ends_[1].trace, nullptr);
  EXPECT_TRUE(ends_[1].trace->complete);
  EXPECT_EQ(ends_[1].trace->info.config.model, "worn-out");
  EXPECT_NE(client.processId(), before);
  EXPECT_TRUE(lost_.isEmpty());
  EXPECT_FALSE(client.busy());
}

// A worker that always requests its replacement must not be restarted forever.
TEST_F(WorkerClientTest, ReplacesProcessAtMostOncePerRun) {
  WorkerClient& client = Make();
  client.start();
  const quint64 tag = client.run(Named("worn-out-always"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].tag, tag);
  EXPECT_EQ(ends_[0].error, "worn out");
  EXPECT_EQ(ends_[0].code, static_cast<int>(absl::StatusCode::kResourceExhausted));
  client.run(Named("next"));
  ASSERT_TRUE(WaitForEnds(2));
  EXPECT_EQ(ends_[1].error, "");
}

TEST_F(WorkerClientTest, CancelKeepsReceivedEvents) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("slow", 500));
  ASSERT_TRUE(WaitFor([this] { return partials_ >= 2; }));
  client.cancel();
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].code, static_cast<int>(absl::StatusCode::kCancelled));
  ASSERT_NE(ends_[0].trace, nullptr);
  EXPECT_FALSE(ends_[0].trace->complete);
  EXPECT_GT(ends_[0].trace->events.size(), 100u);
  EXPECT_TRUE(lost_.isEmpty());
}

TEST_F(WorkerClientTest, CancelBeforeStartEndsTheRun) {
  WorkerClient& client = Make();
  const quint64 tag = client.run(Named("a"));
  client.cancel();
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].tag, tag);
  EXPECT_FALSE(client.busy());
}

// The window uses the user's language, but other users may read the trace, so it must be English.
TEST_F(WorkerClientTest, EndMessageOfATraceIsNotTranslated) {
  i18n::SetTranslator([](const std::string& english) -> std::string {
    return english == "an abort" ? "SIGABRT (translated)" : "";
  });
  WorkerClient& client = Make();
  client.start();
  client.run(Named("crash-mid-run"));
  const bool ended = WaitForEnds(1);
  i18n::SetTranslator(nullptr);
  ASSERT_TRUE(ended);
  ASSERT_NE(ends_[0].trace, nullptr);
  EXPECT_EQ(ends_[0].trace->end_message, "The worker was ended by an abort.");
  ASSERT_EQ(lost_.size(), 1);
  EXPECT_TRUE(lost_[0].contains(QLatin1String("SIGABRT (translated)"))) << lost_[0].toStdString();
}

TEST_F(WorkerClientTest, CrashKeepsReceivedEventsAndRestarts) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("crash-mid-run"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].code, static_cast<int>(absl::StatusCode::kUnavailable));
  ASSERT_NE(ends_[0].trace, nullptr);
  EXPECT_FALSE(ends_[0].trace->complete);
  EXPECT_GT(ends_[0].trace->events.size(), 100u);
  ASSERT_EQ(lost_.size(), 1);
  EXPECT_TRUE(lost_[0].contains(QLatin1String("abort"))) << lost_[0].toStdString();
  EXPECT_TRUE(lost_[0].contains(QLatin1String("A new worker is being started")));
  // The trace can be saved, so it must not contain the sentence about the restart.
  EXPECT_NE(ends_[0].trace->end_message.find("abort"), std::string::npos);
  EXPECT_EQ(ends_[0].trace->end_message.find("A new worker"), std::string::npos)
      << ends_[0].trace->end_message;
  client.run(Named("after"));
  ASSERT_TRUE(WaitForEnds(2));
  EXPECT_EQ(ends_[1].error, "");
}

TEST_F(WorkerClientTest, RestartsAfterBeingKilled) {
  WorkerClient& client = Make();
  client.start();
  ASSERT_TRUE(WaitFor([&] { return client.running(); }));
  const qint64 pid = client.processId();
  kill(static_cast<pid_t>(pid), SIGKILL);
  ASSERT_TRUE(WaitFor([this] { return lost_.size() == 1; }));
  EXPECT_TRUE(lost_[0].contains(QLatin1String("kill signal")));
  ASSERT_TRUE(WaitFor([&] { return client.running(); }));
  EXPECT_NE(client.processId(), pid);
}

TEST_F(WorkerClientTest, GivesUpAfterThreeFailedStarts) {
  qputenv("VRAMSCOPE_FAKE", "die");
  WorkerClient& client = Make();
  client.start();
  const quint64 tag = client.run(Named("a"));
  ASSERT_TRUE(WaitFor([&] { return client.givenUp(); }));
  EXPECT_EQ(lost_.size(), 3);
  EXPECT_TRUE(lost_[0].contains(QLatin1String("exit status 9")));
  EXPECT_TRUE(lost_[2].contains(QLatin1String("not restarted")));
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_[0].tag, tag);
  EXPECT_EQ(ends_[0].code, static_cast<int>(absl::StatusCode::kUnavailable));
  // The next run tries again.
  qunsetenv("VRAMSCOPE_FAKE");
  client.run(Named("b"));
  ASSERT_TRUE(WaitForEnds(2));
  EXPECT_EQ(ends_[1].error, "");
}

TEST_F(WorkerClientTest, RunWaitsForTheSecondStart) {
  QTemporaryDir folder;
  qputenv("VRAMSCOPE_FAKE", "die-once:" + folder.filePath(QStringLiteral("seen")).toLocal8Bit());
  WorkerClient& client = Make();
  client.run(Named("a"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].error, "");
  EXPECT_EQ(lost_.size(), 1);
}

TEST_F(WorkerClientTest, SilentWorkerIsKilled) {
  qputenv("VRAMSCOPE_FAKE", "silent");
  WorkerClient& client = Make();
  client.setTimeouts(200, 200);
  client.start();
  ASSERT_TRUE(WaitFor([&] { return client.givenUp(); }));
  EXPECT_EQ(lost_.size(), 3);
  EXPECT_TRUE(lost_[0].contains(QLatin1String("did not respond")));
}

TEST_F(WorkerClientTest, HangingRunIsKilledWhenReplaced) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("hang"));
  ASSERT_TRUE(WaitFor([this] { return started_.size() == 1; }));
  client.setTimeouts(60'000, 300);
  client.run(Named("after"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].error, "");
  EXPECT_EQ(ends_[0].trace->info.config.model, "after");
  ASSERT_EQ(lost_.size(), 1);
  EXPECT_TRUE(lost_[0].contains(QLatin1String("did not stop")));
}

TEST_F(WorkerClientTest, ReportsOutputThatIsNotAFrame) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("garble"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_TRUE(ends_[0].error.contains(QLatin1String("could not be decoded")));
  EXPECT_EQ(lost_.size(), 1);
}

// The checksum is verified on another thread, so the error arrives later. The client must then end
// the run at once and not wait for the rest of it.
TEST_F(WorkerClientTest, WrongChecksumEndsTheWorker) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("damage"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_TRUE(ends_[0].error.contains(QLatin1String("wrong checksum")))
      << ends_[0].error.toStdString();
  ASSERT_TRUE(WaitFor([this] { return lost_.size() == 1; }));
}

TEST_F(WorkerClientTest, InvalidEventsFailTheRunButNotTheWorker) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("bad-events"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_NE(ends_[0].error, "");
  EXPECT_TRUE(lost_.isEmpty()) << "the worker itself is fine";
}

TEST_F(WorkerClientTest, IgnoresFramesAfterTheEndOfARun) {
  WorkerClient& client = Make();
  client.run(Named("whole", 40));
  client.run(Named("talks-on", 40));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].error, "");
  ASSERT_NE(ends_[0].trace, nullptr);
  EXPECT_TRUE(ends_[0].trace->complete);
  const uint32_t events = ends_[0].trace->events.size();
  client.run(Named("whole", 40));
  ASSERT_TRUE(WaitForEnds(2));
  EXPECT_EQ(ends_[1].error, "");
  EXPECT_EQ(ends_[1].trace->events.size(), events);
  EXPECT_EQ(ends_.size(), 2u) << "each run ends once";
  EXPECT_TRUE(lost_.isEmpty());
}

TEST_F(WorkerClientTest, KeepsOnlyTheEndOfALongLog) {
  WorkerClient& client = Make();
  client.run(Named("flood"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].error, "");
  EXPECT_TRUE(WaitFor([&] { return client.log().contains(QLatin1String("the last line")); }));
  EXPECT_LE(client.log().size(), 64 << 10);
}

// Whatever the worker writes, and however it ends, the run must end exactly once, and the client
// must be able to start another.
TEST_F(WorkerClientTest, HostileBytesEndOnlyTheirRun) {
  WorkerClient& client = Make();
  constexpr uint64_t kSeeds = 60;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    ends_.clear();
    const quint64 tag = client.run(Named(("hostile-" + std::to_string(seed)).c_str()));
    ASSERT_TRUE(WaitForEnds(1)) << "seed " << seed;
    EXPECT_EQ(ends_[0].tag, tag) << "seed " << seed;
    // If there is a trace, it must be valid.
    if (ends_[0].trace != nullptr) {
      EXPECT_GE(analysis::ComputeCurves(*ends_[0].trace).size(), 1u) << "seed " << seed;
    }
    const quint64 good = client.run(Named("no-trace"));
    ASSERT_TRUE(WaitFor([&] { return !ends_.empty() && ends_.back().tag == good; }))
        << "seed " << seed;
    EXPECT_EQ(ends_.size(), 2u) << "seed " << seed;
  }
}

TEST_F(WorkerClientTest, UnknownProtocolIsNotRetried) {
  qputenv("VRAMSCOPE_FAKE", "protocol");
  WorkerClient& client = Make();
  client.start();
  ASSERT_TRUE(WaitFor([&] { return client.givenUp(); }));
  ASSERT_EQ(lost_.size(), 1);
  EXPECT_TRUE(lost_[0].contains(QLatin1String("protocol 99")));
}

TEST_F(WorkerClientTest, FailedRunReportsItsMessage) {
  WorkerClient& client = Make();
  client.start();
  client.run(Named("fail"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].code, static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(ends_[0].error.contains(QLatin1String("hidden_size")));
  EXPECT_EQ(ends_[0].trace, nullptr);
}

TEST_F(WorkerClientTest, ReportsMissingWorkerProgram) {
  WorkerClient& client = Make(QString());
  client.start();
  const quint64 tag = client.run(Named("a"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].tag, tag);
  EXPECT_TRUE(client.givenUp());
  EXPECT_TRUE(lost_[0].contains(QLatin1String("not found")));
  WorkerClient& other = Make(QStringLiteral("/nowhere/vramscope-worker"));
  lost_.clear();
  other.start();
  ASSERT_TRUE(WaitFor([&] { return other.givenUp(); }));
  EXPECT_TRUE(lost_[0].contains(QLatin1String("could not be started")));
}

TEST_F(WorkerClientTest, AcceptsCommandWithArgumentsAsProgram) {
  WorkerClient& client =
      Make(QStringLiteral("env VRAMSCOPE_X=1 \"%1\"").arg(QStringLiteral(VRAMSCOPE_FAKE_WORKER)));
  client.run(Named("a"));
  ASSERT_TRUE(WaitForEnds(1));
  EXPECT_EQ(ends_[0].error, "");
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
