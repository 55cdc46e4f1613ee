#include "app/worker/worker.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "app/worker/async_sink.h"
#include "profiler/base/i18n.h"
#include "profiler/run/arena_message.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/writer.h"
#include "proto/worker.pb.h"
#include "trainer/backends/cuda/emulated_process.h"

namespace vramscope::worker {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitBadInput = 3;
constexpr uint32_t kProtocol = 1;
// The maximum number of waiting runs. Only a faulty client requests more. Then the oldest waiting
// runs end with an error.
constexpr size_t kMaxWaiting = 64;

struct Job {
  uint64_t tag = 0;
  std::string config;  // serialized proto.RunConfig
  bool cancelled = false;
};

// Shared by the thread that reads requests and the thread that executes runs. Both keep it alive.
class Session {
 public:
  explicit Session(const WorkerOptions& options) : options_(options) {}

  // --- the reading thread

  void SayHello() {
    proto::Hello hello;
    hello.set_protocol(kProtocol);
    hello.set_version(options_.version);
    for (run::Backend backend : options_.backends) {
      hello.add_backends(std::string(run::Name(backend)));
    }
    hello.set_pid(getpid());
    Send(trace::FrameType::kHello, hello.SerializeAsString());
  }

  // Returns false if the input does not follow the protocol.
  bool Handle(const trace::Frame& frame) {
    if (frame.type != trace::FrameType::kRequest) return true;  // sent by a newer client
    const run::ArenaMessage<proto::Request> message;
    if (!message->ParseFromString(frame.payload)) return false;
    const proto::Request& request = *message;
    switch (request.what_case()) {
      case proto::Request::kRun:
        Enqueue({request.run().tag(), request.run().config().SerializeAsString()});
        return true;
      case proto::Request::kCancel:
        Cancel(request.cancel().tag());
        return true;
      case proto::Request::kShutdown:
        End();
        return true;
      case proto::Request::WHAT_NOT_SET:
        return true;
    }
    return true;
  }

  // Refuses further runs, and cancels the run in progress.
  void End() {
    std::lock_guard lock(mutex_);
    ending_ = true;
    cancel_ = true;
    changed_.notify_all();
  }
  bool ending() {
    std::lock_guard lock(mutex_);
    return ending_;
  }
  bool WaitUntilIdle(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return finished_; });
  }

  // --- the run thread

  void RunJobs() {
    if (options_.warm_up) options_.warm_up();
    std::vector<uint64_t> refused;
    while (true) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        if (ending_) break;
        refused.swap(refused_);
        job = std::move(waiting_.front());
        waiting_.pop_front();
        current_ = job.tag;
        running_ = true;
        // If a newer run is waiting, this run is cancelled immediately.
        cancel_ = job.cancelled || !waiting_.empty();
      }
      for (const uint64_t tag : refused)
        SendEnded(tag,
                  absl::ResourceExhaustedError(
                      i18n::Text("too many runs were waiting; the oldest were dropped")),
                  0);
      refused.clear();
      RunJob(job);
      std::lock_guard lock(mutex_);
      running_ = false;
    }
    std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

 private:
  void Enqueue(Job job) {
    std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      refused_.push_back(waiting_.front().tag);
      waiting_.pop_front();
    }
    waiting_.push_back(std::move(job));
    if (running_) cancel_ = true;
    changed_.notify_all();
  }

  void Cancel(uint64_t tag) {
    std::lock_guard lock(mutex_);
    if (running_ && current_ == tag) cancel_ = true;
    for (Job& job : waiting_) job.cancelled = job.cancelled || job.tag == tag;
  }

  void RunJob(const Job& job) {
    const auto start = std::chrono::steady_clock::now();
    proto::RunStarted started;
    started.set_tag(job.tag);
    Send(trace::FrameType::kRunStarted, started.SerializeAsString());
    const absl::Status status = Execute(job);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    SendEnded(job.tag, status, seconds.count());
  }

  void SendEnded(uint64_t tag, const absl::Status& status, double seconds) {
    proto::RunEnded ended;
    ended.set_tag(tag);
    ended.set_status_code(static_cast<uint32_t>(status.code()));
    ended.set_message(std::string(status.message()));
    ended.set_seconds(seconds);
    ended.set_needs_new_process(status.GetPayload(trainer::kNeedsNewProcess).has_value());
    Send(trace::FrameType::kRunEnded, ended.SerializeAsString());
  }

  absl::Status Execute(const Job& job) {
    if (cancel_) return absl::CancelledError(i18n::Text("the run was cancelled before it began"));
    auto config = run::FromProtoBytes(job.config);
    if (!config.ok()) return config.status();
    if (std::find(options_.backends.begin(), options_.backends.end(), config->backend) ==
        options_.backends.end()) {
      return absl::FailedPreconditionError(
          i18n::Text("this worker does not support the backend of the run"));
    }
    auto writer = trace::TraceWriter::ToSink([this](std::string_view bytes) {
      return Write(bytes) ? absl::OkStatus()
                          : absl::UnavailableError(i18n::Text("the client disconnected"));
    });
    // This sink encodes and writes events while the run continues.
    AsyncSink sink(*writer);
    trainer::RunHooks hooks;
    hooks.cancel = &cancel_;
    hooks.progress = [&](int step, int steps, const std::string& text) {
      proto::Progress progress;
      progress.set_tag(job.tag);
      progress.set_step(static_cast<uint32_t>(std::max(step, 0)));
      progress.set_steps(static_cast<uint32_t>(std::max(steps, 0)));
      progress.set_text(text);
      sink.Post([this, &writer, payload = progress.SerializeAsString()] {
        writer->Flush();
        Send(trace::FrameType::kProgress, payload);
      });
    };
    const absl::Status ran = options_.run(*config, sink, hooks);
    sink.Drain();
    const absl::Status closed = writer->Close();
    return ran.ok() ? closed : ran;
  }

  void Send(trace::FrameType type, const std::string& payload) {
    Write(trace::EncodeFrame(type, payload));
  }

  // Writes all bytes. Returns false if the client has closed its side; the session then ends.
  bool Write(std::string_view bytes) {
    std::lock_guard lock(output_mutex_);
    if (output_broken_) return false;
    while (!bytes.empty()) {
      const ssize_t n = write(options_.output, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        std::fprintf(stderr, "vramscope-worker: can't write: %s\n", std::strerror(errno));
        output_broken_ = true;
        End();
        return false;
      }
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  const WorkerOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<uint64_t> refused_;  // tags for which RunEnded must still be sent
  uint64_t current_ = 0;
  bool running_ = false;
  bool ending_ = false;
  bool finished_ = false;
  std::atomic<bool> cancel_{false};

  std::mutex output_mutex_;  // never locked by a thread that holds mutex_
  bool output_broken_ = false;
};

}  // namespace

int ServeWorker(const WorkerOptions& options) {
  // The session is in a shared pointer, because a run that does not end in time outlives this call.
  auto session = std::make_shared<Session>(options);
  session->SayHello();
  std::thread runner([session] { session->RunJobs(); });
  int exit_status = kExitOk;
  trace::FrameDecoder decoder;
  std::string buffer(size_t{64} << 10, '\0');
  while (!session->ending()) {
    const ssize_t n = read(options.input, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    decoder.Append(std::string_view(buffer.data(), static_cast<size_t>(n)));
    while (true) {
      auto frame = decoder.Next();
      if (frame.ok() && !frame->has_value()) break;
      if (!frame.ok() || !session->Handle(**frame)) {
        std::fprintf(stderr, "vramscope-worker: the input is not the worker protocol: %s\n",
                     frame.ok() ? "not a request" : std::string(frame.status().message()).c_str());
        exit_status = kExitBadInput;
        session->End();
        break;
      }
    }
  }
  session->End();
  if (session->WaitUntilIdle(std::chrono::milliseconds(options.shutdown_timeout_ms))) {
    runner.join();
  } else {
    runner.detach();
  }
  return exit_status;
}

}  // namespace vramscope::worker
