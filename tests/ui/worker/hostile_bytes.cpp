#include "tests/ui/worker/hostile_bytes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <string_view>

#include "profiler/trace/frame.h"
#include "profiler/trace/writer.h"
#include "proto/worker.pb.h"
#include "tests/ui/worker/canned_run.h"

namespace vramscope::testing {
namespace {

using trace::Compression;
using trace::FrameType;

std::string Message(FrameType type, const google::protobuf::MessageLite& message) {
  return trace::EncodeFrame(type, message.SerializeAsString(), Compression::kNone);
}

// Returns all frames of a run, in the pieces in which they would be written.
std::vector<std::string> TraceBytes(const run::RunConfig& config) {
  std::vector<std::string> pieces;
  auto writer = trace::TraceWriter::ToSink([&pieces](std::string_view bytes) {
    pieces.emplace_back(bytes);
    return absl::OkStatus();
  });
  CannedHooks hooks;
  hooks.before_step = [&](int) {
    writer->Flush();
    return true;
  };
  EmitCannedRun(config, *writer, hooks);
  writer->End(true, "");
  static_cast<void>(writer->Close());
  return pieces;
}

class Hostile {
 public:
  Hostile(uint64_t seed, uint64_t tag, const run::RunConfig& config)
      : random_(seed), tag_(tag), trace_(TraceBytes(config)) {}

  std::string Next() {
    switch (Below(12)) {
      case 0: {
        proto::Hello hello;
        hello.set_protocol(1);
        hello.set_version(std::string(Below(3) * 100'000, 'v'));
        return Message(FrameType::kHello, hello);
      }
      case 1:
      case 2: {
        proto::RunStarted started;
        started.set_tag(Tag());
        return Message(FrameType::kRunStarted, started);
      }
      case 3: {
        proto::Progress progress;
        progress.set_tag(Tag());
        progress.set_step(static_cast<uint32_t>(random_()));
        progress.set_steps(static_cast<uint32_t>(random_()));
        progress.set_text("\n\xc3\xa9\0\x1b[2J");
        return Message(FrameType::kProgress, progress);
      }
      case 4: {
        proto::RunEnded ended;
        ended.set_tag(Tag());
        ended.set_status_code(Below(2) == 0 ? 0 : static_cast<uint32_t>(random_()));
        ended.set_seconds(Below(2) == 0 ? 1 : std::numeric_limits<double>::quiet_NaN());
        return Message(FrameType::kRunEnded, ended);
      }
      case 5:
      case 6:
      case 7:
        return trace_[Below(trace_.size())];
      case 8: {  // a payload that is invalid for its type, which may be unknown
        std::string payload(Below(200), '\0');
        for (char& c : payload) c = static_cast<char>(random_());
        return trace::EncodeFrame(static_cast<FrameType>(Below(64)), payload, Compression::kFast);
      }
      case 9: {  // a part of the run with one flipped bit
        std::string bytes = trace_[Below(trace_.size())];
        if (!bytes.empty()) bytes[Below(bytes.size())] ^= static_cast<char>(1 << Below(8));
        return bytes;
      }
      case 10: {  // truncated
        const std::string& whole = trace_[Below(trace_.size())];
        return whole.substr(0, Below(whole.size() + 1));
      }
      default: {  // with an impossible length
        std::string bytes = trace::EncodeFrame(FrameType::kEvents, "none", Compression::kNone);
        std::fill_n(bytes.begin() + 8, 8, static_cast<char>(0xff));
        return bytes;
      }
    }
  }
  size_t Below(size_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  // Returns the tag of the current run in most cases, or a random one.
  uint64_t Tag() { return Below(4) == 0 ? random_() : tag_; }

  std::mt19937_64 random_;
  const uint64_t tag_;
  const std::vector<std::string> trace_;
};

}  // namespace

std::vector<std::string> HostileBytes(uint64_t seed, uint64_t tag, const run::RunConfig& config) {
  Hostile hostile(seed, tag, config);
  std::vector<std::string> pieces;
  std::generate_n(std::back_inserter(pieces), 1 + hostile.Below(12),
                  [&] { return hostile.Next(); });
  return pieces;
}

}  // namespace vramscope::testing
