// A worker without LibTorch. Replies to a run with a made-up trace, or misbehaves on
// demand.
//
// The name of the model (RunConfigBuilder::SetModelConfig sets it) chooses the behaviour:
//   crash-mid-run, crash-at-run
//   hang           never replies, ignores Cancel
//   garble         sends bytes that are not a frame
//   damage         sends a frame with a wrong checksum
//   fail           sends RunEnded with an error
//   bad-events     sends a valid frame with an invalid trace
//   slow           waits 200 ms before each step; can be cancelled
//   no-trace       succeeds without events
//   talks-on       after the end of the run, sends the same frames again
//   flood          writes 64 MiB to standard error before the end
//   chatter        writes 256 KiB to standard error
//   worn-out       requests its replacement if the process already made a run
//   worn-out-always  always requests its replacement
//   hostile-SEED   sends hostile_bytes.h, then exits, aborts or is killed
// $VRAMSCOPE_FAKE also chooses a behaviour:
//   die            exits at once
//   silent         sends no hello
//   protocol       has another protocol version
//   die-once:FILE  exits unless FILE exists, and creates it
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "profiler/trace/frame.h"
#include "profiler/trace/writer.h"
#include "proto/worker.pb.h"
#include "tests/ui/worker/canned_run.h"
#include "tests/ui/worker/hostile_bytes.h"

namespace {

using namespace vramscope;
using trace::FrameType;

void WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(1, bytes.data(), bytes.size());
    if (n <= 0) std::_Exit(0);  // the window has ended
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void SendFrame(FrameType type, const google::protobuf::MessageLite& message) {
  WriteAll(trace::EncodeFrame(type, message.SerializeAsString(), trace::Compression::kNone));
}

class Input {
 public:
  // Waits at most `timeout_ms` (< 0: forever) for a request. Ends the program when the input ends.
  std::optional<proto::Request> Next(int timeout_ms) {
    while (true) {
      auto frame = decoder_.Next();
      if (!frame.ok()) std::_Exit(3);
      if (frame->has_value()) {
        proto::Request request;
        if (!request.ParseFromString((*frame)->payload)) std::_Exit(3);
        return request;
      }
      pollfd ready{0, POLLIN, 0};
      if (poll(&ready, 1, timeout_ms) <= 0) return std::nullopt;
      char buffer[1 << 16];
      const ssize_t n = read(0, buffer, sizeof(buffer));
      if (n <= 0) std::_Exit(0);
      decoder_.Append(std::string_view(buffer, static_cast<size_t>(n)));
    }
  }

 private:
  trace::FrameDecoder decoder_;
};

// Always ends the process, because the reader may wait for the rest of a truncated frame.
[[noreturn]] void SendHostile(std::string_view seed_text, uint64_t tag,
                              const run::RunConfig& config) {
  uint64_t seed = 0;
  std::from_chars(seed_text.data(), seed_text.data() + seed_text.size(), seed);
  for (const std::string& bytes : testing::HostileBytes(seed, tag, config)) WriteAll(bytes);
  if (seed % 4 == 1) std::abort();
  if (seed % 4 == 2) std::raise(SIGKILL);
  if (seed % 4 == 3) {
    proto::RunEnded ended;
    ended.set_tag(tag);
    SendFrame(FrameType::kRunEnded, ended);
  }
  std::_Exit(static_cast<int>(seed % 3));
}

void Run(uint64_t tag, const proto::RunConfig& message, Input& input) {
  using std::chrono::milliseconds;
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<run::RunConfig> config = run::FromProtoBytes(message.SerializeAsString());
  proto::RunStarted started;
  started.set_tag(tag);
  SendFrame(FrameType::kRunStarted, started);
  proto::RunEnded ended;
  ended.set_tag(tag);
  if (!config.ok()) {
    ended.set_status_code(static_cast<uint32_t>(config.status().code()));
    ended.set_message(std::string(config.status().message()));
    SendFrame(FrameType::kRunEnded, ended);
    return;
  }
  std::fprintf(stderr, "run %llu: %s\n", static_cast<unsigned long long>(tag),
               config->model.c_str());
  const std::string model = config->model;
  if (model == "crash-at-run") std::abort();
  static int runs = 0;
  if (model.starts_with("worn-out") && (runs > 0 || model == "worn-out-always")) {
    ended.set_status_code(static_cast<uint32_t>(absl::StatusCode::kResourceExhausted));
    ended.set_message("worn out");
    ended.set_needs_new_process(true);
    SendFrame(FrameType::kRunEnded, ended);
    return;
  }
  ++runs;
  if (model == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (model == "garble") {
    WriteAll("this is no frame, whatever you do");
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  if (model == "damage") {  // found when the trace is built
    std::string frame = trace::EncodeFrame(FrameType::kEvents, std::string(1000, 'x'));
    frame.back() = static_cast<char>(frame.back() ^ 1);
    WriteAll(frame);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  if (model == "flood" || model == "chatter") {
    const std::string line = std::string(1023, 'x') + '\n';
    for (int i = 0; i < (model == "flood" ? 64 << 10 : 256); ++i) std::fputs(line.c_str(), stderr);
    std::fputs("the last line\n", stderr);
  }
  if (model.starts_with("hostile-")) SendHostile(model.substr(8), tag, *config);
  if (model == "bad-events") WriteAll(trace::EncodeFrame(FrameType::kEvents, "\xff\xff\xff\xff"));
  bool cancelled = false;
  std::string sent;  // the trace's bytes, to be sent again
  if (model != "fail" && model != "bad-events" && model != "no-trace") {
    auto writer = trace::TraceWriter::ToSink([&](std::string_view bytes) {
      if (model == "talks-on") sent += bytes;
      WriteAll(bytes);
      return absl::OkStatus();
    });
    testing::CannedHooks hooks;
    hooks.before_step = [&](int step) {
      writer->Flush();
      if (model == "crash-mid-run" && step == 1) {
        // Waits until the client has read the log. The test is about lines that the client keeps,
        // not about lines that are lost in the pipe.
        std::this_thread::sleep_for(milliseconds(50));
        std::abort();
      }
      proto::Progress progress;
      progress.set_tag(tag);
      progress.set_step(static_cast<uint32_t>(step));
      progress.set_steps(static_cast<uint32_t>(config->steps));
      progress.set_text("step " + std::to_string(step));
      SendFrame(FrameType::kProgress, progress);
      while (auto request = input.Next(model == "slow" ? 200 : 0)) {
        if (request->has_shutdown()) std::_Exit(0);
        if (request->has_cancel() && request->cancel().tag() == tag) cancelled = true;
        if (cancelled) return false;
      }
      return true;
    };
    testing::EmitCannedRun(*config, *writer, hooks);
    writer->End(!cancelled, cancelled ? "cancelled" : "");
    if (!writer->Close().ok()) std::_Exit(4);
  }
  if (cancelled) {
    ended.set_status_code(static_cast<uint32_t>(absl::StatusCode::kCancelled));
    ended.set_message("cancelled");
  } else if (model == "fail") {
    ended.set_status_code(static_cast<uint32_t>(absl::StatusCode::kInvalidArgument));
    ended.set_message("hidden_size: missing in config.json of \"fail\"");
  }
  ended.set_seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  SendFrame(FrameType::kRunEnded, ended);
  if (model != "talks-on") return;
  SendFrame(FrameType::kRunStarted, started);
  WriteAll(sent);
  SendFrame(FrameType::kRunEnded, ended);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (std::ranges::find(arguments, "--stdio") == arguments.end()) return 2;
  // Prints its arguments, as the first line of the real worker's log does.
  for (const std::string_view a : arguments)
    std::fprintf(stderr, "%.*s ", static_cast<int>(a.size()), a.data());
  std::fprintf(stderr, "\n");
  const char* variable = std::getenv("VRAMSCOPE_FAKE");
  const std::string mode = variable == nullptr ? "" : variable;
  if (mode == "die") return 9;
  if (mode.rfind("die-once:", 0) == 0) {
    const std::string file = mode.substr(9);
    if (!std::ifstream(file).good()) {
      std::ofstream(file) << "seen";
      return 9;
    }
  }
  if (mode == "silent") std::this_thread::sleep_for(std::chrono::hours(1));
  proto::Hello hello;
  hello.set_protocol(mode == "protocol" ? 99 : 1);
  hello.set_version("fake");
  hello.add_backends("plan");
  hello.set_pid(getpid());
  SendFrame(FrameType::kHello, hello);
  Input input;
  while (true) {
    std::optional<proto::Request> request = input.Next(-1);
    if (!request) continue;
    if (request->has_shutdown()) return 0;
    if (request->has_run()) Run(request->run().tag(), request->run().config(), input);
  }
}
