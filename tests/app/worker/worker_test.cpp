// Tests the worker's protocol with a fake run, then with the real program.
#include "app/worker/worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "profiler/trace/frame.h"
#include "profiler/trace/reader.h"
#include "proto/worker.pb.h"

namespace vramscope::worker {
namespace {

using trace::Frame;
using trace::FrameType;

// The client's side of the two pipes.
class Client {
 public:
  Client() {
    EXPECT_EQ(pipe2(to_worker_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from_worker_, O_CLOEXEC), 0);
    signal(SIGPIPE, SIG_IGN);
  }
  ~Client() {
    CloseInput();
    for (int fd : {to_worker_[0], from_worker_[0], from_worker_[1]}) {
      if (fd >= 0) close(fd);
    }
  }
  int worker_input() const { return to_worker_[0]; }
  int worker_output() const { return from_worker_[1]; }
  // Call this after fork. Closes the worker's ends, so that the client reads an end of file if the
  // worker dies.
  void CloseWorkerEnds() {
    close(to_worker_[0]);
    close(from_worker_[1]);
    to_worker_[0] = from_worker_[1] = -1;
  }
  void CloseInput() {
    if (to_worker_[1] >= 0) close(to_worker_[1]);
    to_worker_[1] = -1;
  }
  void CloseOutput() {
    close(from_worker_[0]);
    from_worker_[0] = -1;
  }

  void SendBytes(const std::string& bytes) {
    ASSERT_EQ(write(to_worker_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void Send(const proto::Request& request) {
    SendBytes(trace::EncodeFrame(FrameType::kRequest, request.SerializeAsString()));
  }
  void Run(uint64_t tag, const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    run::RunConfigBuilder builder;
    for (const auto& [key, value] : settings) {
      ASSERT_TRUE(builder.Set(key, value).ok()) << key;
    }
    auto config = builder.Build();
    ASSERT_TRUE(config.ok()) << config.status();
    proto::Request request;
    request.mutable_run()->set_tag(tag);
    ASSERT_TRUE(
        request.mutable_run()->mutable_config()->ParseFromString(run::ToProtoBytes(*config)));
    Send(request);
  }
  void Cancel(uint64_t tag) {
    proto::Request request;
    request.mutable_cancel()->set_tag(tag);
    Send(request);
  }
  void Shutdown() {
    proto::Request request;
    request.mutable_shutdown();
    Send(request);
  }

  // Returns the next frame, or nullopt at the end of file or after a minute without data.
  std::optional<Frame> Next() {
    while (true) {
      auto frame = decoder_.Next();
      if (!frame.ok()) {
        ADD_FAILURE() << frame.status();
        return std::nullopt;
      }
      if (frame->has_value()) return **frame;
      pollfd poller{from_worker_[0], POLLIN, 0};
      if (poll(&poller, 1, 60'000) <= 0) return std::nullopt;
      char buffer[65536];
      const ssize_t n = read(from_worker_[0], buffer, sizeof buffer);
      if (n <= 0) return std::nullopt;
      decoder_.Append(std::string_view(buffer, static_cast<size_t>(n)));
    }
  }
  // Reads frames up to the next RunEnded and returns it. Feeds trace frames to `assembler`.
  std::optional<proto::RunEnded> UntilEnded(trace::TraceAssembler* assembler = nullptr) {
    while (auto frame = Next()) {
      if (frame->type == FrameType::kRunStarted) {
        proto::RunStarted started;
        EXPECT_TRUE(started.ParseFromString(frame->payload));
        started_tag = started.tag();
      } else if (frame->type == FrameType::kProgress) {
        ++progress;
      } else if (frame->type == FrameType::kRunEnded) {
        proto::RunEnded ended;
        EXPECT_TRUE(ended.ParseFromString(frame->payload));
        return ended;
      } else if (assembler != nullptr && frame->type != FrameType::kHello) {
        EXPECT_TRUE(assembler->Add(*frame).ok());
      }
    }
    return std::nullopt;
  }

  uint64_t started_tag = 0;
  int progress = 0;

 private:
  int to_worker_[2] = {-1, -1};
  int from_worker_[2] = {-1, -1};
  trace::FrameDecoder decoder_;
};

// Runs a worker in a thread. Each of its runs lasts until it is cancelled or `hold` is false.
class FakeWorker {
 public:
  explicit FakeWorker(Client& client) {
    WorkerOptions options;
    options.input = client.worker_input();
    options.output = client.worker_output();
    options.version = "test";
    options.backends = {run::Backend::kPlan, run::Backend::kCpu};
    options.run = [this](const run::RunConfig& config, trace::EventSink& sink,
                         const trainer::RunHooks& hooks) -> absl::Status {
      trace::TraceInfo info;
      info.title = config.model;
      sink.Begin(info);
      hooks.progress(0, config.steps, "working");
      ++runs;
      while (hold && (deaf || !*hooks.cancel)) std::this_thread::yield();
      const bool cancelled = *hooks.cancel;
      sink.End(!cancelled, cancelled ? "cancelled" : "");
      return cancelled ? absl::CancelledError("cancelled") : absl::OkStatus();
    };
    thread_ = std::thread([this, options] { exit_status = ServeWorker(options); });
  }
  ~FakeWorker() { Join(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<bool> hold{false};
  std::atomic<bool> deaf{false};  // while `hold` makes a run wait, it ignores cancellation
  std::atomic<int> runs{0};
  int exit_status = -1;

 private:
  std::thread thread_;
};

TEST(Worker, ServesRunAndShutsDown) {
  Client client;
  FakeWorker worker(client);
  auto hello = client.Next();
  ASSERT_TRUE(hello.has_value());
  ASSERT_EQ(hello->type, FrameType::kHello);
  proto::Hello message;
  ASSERT_TRUE(message.ParseFromString(hello->payload));
  EXPECT_EQ(message.protocol(), 1u);
  EXPECT_EQ(message.backends_size(), 2);
  client.Run(7, {{"steps", "2"}});
  trace::TraceAssembler assembler;
  auto ended = client.UntilEnded(&assembler);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->tag(), 7u);
  EXPECT_EQ(client.started_tag, 7u);
  EXPECT_EQ(ended->status_code(), 0u) << ended->message();
  EXPECT_EQ(client.progress, 1);
  EXPECT_TRUE(assembler.ended());
  client.Shutdown();
  worker.Join();
  EXPECT_EQ(worker.exit_status, 0);
}

TEST(Worker, CancelEndsRun) {
  Client client;
  FakeWorker worker(client);
  worker.hold = true;
  client.Run(1);
  while (worker.runs == 0) std::this_thread::yield();
  client.Cancel(99);  // cancels another run
  client.Cancel(1);
  auto ended = client.UntilEnded();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->status_code(), static_cast<uint32_t>(absl::StatusCode::kCancelled));
  client.Shutdown();
}

TEST(Worker, NewerRunCancelsOlderOnes) {
  Client client;
  FakeWorker worker(client);
  worker.hold = true;
  client.Run(1);
  while (worker.runs == 0) std::this_thread::yield();
  client.Run(2);
  client.Run(3);
  for (uint64_t tag : {1, 2}) {
    auto ended = client.UntilEnded();
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->tag(), tag);
    EXPECT_EQ(ended->status_code(), static_cast<uint32_t>(absl::StatusCode::kCancelled));
  }
  worker.hold = false;
  auto ended = client.UntilEnded();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->tag(), 3u);
  EXPECT_EQ(ended->status_code(), 0u);
  client.Shutdown();
}

// At most 64 requests wait. One more request removes the oldest one, whose run must also be
// reported as ended.
TEST(Worker, EveryRequestedRunEnds) {
  constexpr uint64_t kRuns = 80;
  Client client;
  FakeWorker worker(client);
  worker.hold = worker.deaf = true;
  client.Run(1);
  while (worker.runs == 0) std::this_thread::yield();
  for (uint64_t tag = 2; tag <= kRuns; ++tag) client.Run(tag);
  // Waits until the worker has read all requests, while the first run is in progress.
  for (int left = 1; left > 0;) ASSERT_EQ(ioctl(client.worker_input(), FIONREAD, &left), 0);
  worker.deaf = false;
  std::map<uint64_t, uint32_t> ends;
  while (ends.count(kRuns) == 0) {
    const auto ended = client.UntilEnded();
    ASSERT_TRUE(ended.has_value()) << ends.size() << " ended";
    EXPECT_TRUE(ends.emplace(ended->tag(), ended->status_code()).second) << ended->tag();
    if (ended->tag() + 1 == kRuns) worker.hold = false;
  }
  EXPECT_EQ(ends.size(), kRuns);
  EXPECT_EQ(ends[kRuns], 0u);
  client.Shutdown();
}

TEST(Worker, ReportsInvalidConfigurationAndContinues) {
  Client client;
  FakeWorker worker(client);
  proto::Request request;
  request.mutable_run()->set_tag(4);
  request.mutable_run()->mutable_config()->set_precision("fp7");
  client.Send(request);
  auto ended = client.UntilEnded();
  ASSERT_TRUE(ended.has_value());
  EXPECT_NE(ended->status_code(), 0u);
  EXPECT_THAT(ended->message(), testing::HasSubstr("fp7"));
  client.Run(5);
  ended = client.UntilEnded();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->status_code(), 0u);
  client.Shutdown();
}

TEST(Worker, EndOfInputEndsRunInProgress) {
  Client client;
  FakeWorker worker(client);
  worker.hold = true;
  client.Run(1);
  while (worker.runs == 0) std::this_thread::yield();
  client.CloseInput();
  worker.Join();
  EXPECT_EQ(worker.exit_status, 0);
}

TEST(Worker, RejectsForeignInput) {
  Client client;
  FakeWorker worker(client);
  client.SendBytes("GET / HTTP/1.1\r\nHost: example\r\n\r\n" + std::string(64, 'x'));
  worker.Join();
  EXPECT_EQ(worker.exit_status, 3);
}

TEST(Worker, SurvivesClosedClientPipe) {
  Client client;
  FakeWorker worker(client);
  ASSERT_TRUE(client.Next().has_value());
  client.CloseOutput();
  client.Run(1);
  client.CloseInput();
  worker.Join();
  EXPECT_EQ(worker.exit_status, 0);
}

// ---- the program itself

#ifdef VRAMSCOPE_WORKER
class RealWorker {
 public:
  explicit RealWorker(Client& client, const char* backend = nullptr) {
    pid_ = fork();
    if (pid_ == 0) {
      dup2(client.worker_input(), 0);
      dup2(client.worker_output(), 1);
      if (backend != nullptr) {
        execl(VRAMSCOPE_WORKER, VRAMSCOPE_WORKER, "--stdio", "--backend", backend, nullptr);
      } else {
        execl(VRAMSCOPE_WORKER, VRAMSCOPE_WORKER, "--stdio", nullptr);
      }
      _exit(127);
    }
    client.CloseWorkerEnds();
  }
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(WorkerProgram, RunsPlanAndCpuInOneProcess) {
  Client client;
  RealWorker worker(client);
  // A model small enough to be trained here.
  const std::string model =
      R"({"architectures": ["LlamaForCausalLM"], "vocab_size": 64, "hidden_size": 32,
          "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2})";
  uint64_t tag = 0;
  for (const char* backend : {"plan", "cpu", "plan", "cpu"}) {
    run::RunConfigBuilder builder;
    ASSERT_TRUE(builder.SetModelConfig("tiny", model).ok());
    ASSERT_TRUE(builder.Set("seq", "16").ok());
    auto config = builder.Build();
    ASSERT_TRUE(config.ok()) << config.status();
    config->backend =
        std::string_view(backend) == "plan" ? run::Backend::kPlan : run::Backend::kCpu;
    proto::Request request;
    request.mutable_run()->set_tag(++tag);
    ASSERT_TRUE(
        request.mutable_run()->mutable_config()->ParseFromString(run::ToProtoBytes(*config)));
    client.Send(request);
    trace::TraceAssembler assembler;
    auto ended = client.UntilEnded(&assembler);
    ASSERT_TRUE(ended.has_value()) << backend;
    EXPECT_EQ(ended->tag(), tag);
    EXPECT_EQ(ended->status_code(), 0u) << ended->message();
    ASSERT_TRUE(assembler.ended());
    auto trace = assembler.Finish("");
    EXPECT_TRUE(trace->complete);
    EXPECT_GT(trace->allocations.size(), 100u);
    EXPECT_EQ(trace->info.measured, config->backend == run::Backend::kCpu);
  }
  client.Shutdown();
  EXPECT_EQ(worker.Wait(), 0);
}

// A worker that has made other plans must give the same allocations and addresses as a new
// one.
TEST(WorkerProgram, WarmWorkerGivesTheSamePlan) {
  Client client;
  RealWorker worker(client, "plan");
  const std::vector<std::pair<std::string, std::string>> small = {{"batch", "1"}, {"seq", "64"}};
  uint64_t tag = 0;
  const auto plan = [&](std::vector<std::pair<std::string, std::string>> settings) {
    settings.insert(settings.end(), small.begin(), small.end());
    client.Run(++tag, settings);
    trace::TraceAssembler assembler;
    const auto ended = client.UntilEnded(&assembler);
    EXPECT_TRUE(ended.has_value());
    if (ended.has_value()) {
      EXPECT_EQ(ended->status_code(), 0u) << ended->message();
    }
    return assembler.Finish("");
  };
  const auto first = plan({{"precision", "fp32"}});
  ASSERT_NE(first, nullptr);
  plan({{"precision", "amp-bf16"}, {"optimizer.bits", "8"}});
  plan({{"alloc_conf", "expandable_segments:True"},
        {"shard.strategy", "ddp"},
        {"shard.ranks", "2"}});
  const auto again = plan({{"precision", "fp32"}});
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(first->events.kind, again->events.kind);
  EXPECT_EQ(first->events.time_ns, again->events.time_ns);
  EXPECT_EQ(first->events.bytes, again->events.bytes);
  EXPECT_EQ(first->allocations.address, again->allocations.address);
  EXPECT_EQ(first->segments.address, again->segments.address);
  EXPECT_EQ(first->segments.bytes, again->segments.bytes);
  client.CloseInput();
  EXPECT_EQ(worker.Wait(), 0);
}

TEST(WorkerProgram, NewerRunReplacesRunInProgress) {
  Client client;
  RealWorker worker(client, "plan");
  client.Run(1, {{"steps", "300"}});  // slightly less than the recorded maximum
  while (auto frame = client.Next()) {
    if (frame->type == FrameType::kProgress) break;  // the run has begun
  }
  client.Run(2, {{"steps", "1"}});
  auto first = client.UntilEnded();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->tag(), 1u);
  EXPECT_EQ(first->status_code(), static_cast<uint32_t>(absl::StatusCode::kCancelled));
  auto second = client.UntilEnded();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->tag(), 2u);
  EXPECT_EQ(second->status_code(), 0u) << second->message();
  client.CloseInput();
  EXPECT_EQ(worker.Wait(), 0);
}
#endif

}  // namespace
}  // namespace vramscope::worker
