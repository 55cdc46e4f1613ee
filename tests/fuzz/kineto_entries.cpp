#include "tests/fuzz/kineto_entries.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "profiler/importers/kineto.h"
#include "profiler/recording/recording.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/input.h"

namespace vramscope::fuzz {
namespace {

void Check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

// In small pieces, so that tokens lie across their ends.
class Pieces : public trace::InputStream {
 public:
  explicit Pieces(std::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t n = std::min({size, size_t{97}, bytes_.size() - at_});
    std::memcpy(out, bytes_.data() + at_, n);
    at_ += n;
    return n;
  }
  uint64_t consumed() const override { return at_; }
  uint64_t total() const override { return bytes_.size(); }
  bool compressed() const override { return false; }

 private:
  const std::string_view bytes_;
  size_t at_ = 0;
};

void CheckRecording(const recording::Recording& r) {
  const recording::EntryTable& e = r.entries;
  const uint32_t n = e.size();
  Check(e.address.size() == n && e.bytes.size() == n && e.time_ns.size() == n &&
            e.stack.size() == n && e.stream.size() == n,
        "columns of different lengths");
  Check(e.device.empty() || e.device.size() == n, "device column");
  Check(e.said.empty() || e.said.size() == n, "category column");
  for (uint32_t i = 0; i < n; ++i) {
    Check(i == 0 || e.time_ns[i - 1] <= e.time_ns[i], "time goes backwards");
    Check(e.stack[i].value < r.stacks.size(), "stack of an entry");
  }
  for (uint32_t s = 0; s < r.stacks.size(); ++s)
    for (const uint32_t f : r.stacks.Frames({s})) Check(f < r.stacks.frame_count(), "frame");
  for (uint32_t f = 0; f < r.stacks.frame_count(); ++f)
    Check(
        r.stacks.function[f].value < r.strings.size() && r.stacks.file[f].value < r.strings.size(),
        "string of a frame");
  for (size_t i = 0; i < r.extras.size(); ++i)
    Check(r.extras[i].name.value < r.strings.size() &&
              r.extras[i].module.value < r.strings.size() &&
              (i == 0 || r.extras[i - 1].time_ns <= r.extras[i].time_ns),
          "a further event");
  for (const recording::Annotation& a : r.annotations)
    Check(a.name.value < r.strings.size() && a.begin_ns <= a.end_ns, "annotation");
}

void Read(std::string_view bytes, const importers::KinetoOptions& options) {
  Pieces input(bytes);
  const auto r = importers::ReadKineto(input, options);
  if (!r.ok()) {
    Check(!r.status().message().empty(), "an error without a message");
    return;
  }
  CheckRecording(*r);
  const auto history = recording::Reconstruct(*r);
  Check(history.ok(), "no history of a recording");
  recording::Labels labels;
  const uint32_t n = history->allocations.size();
  labels.category.resize(n);
  labels.rule.resize(n);
  labels.op.resize(n);
  labels.module.resize(n);
  trace::BuilderSink sink;
  recording::Emit(*r, *history, labels, sink);
  Check(sink.status().ok(), "the trace refuses an event");
}

}  // namespace

void Kineto(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes, {});
  importers::KinetoOptions part;
  part.device = 0;
  part.first_entry = 1;
  part.last_entry = 3;
  Read(bytes, part);
}

}  // namespace vramscope::fuzz
