#include "tests/fuzz/snapshot_entries.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "profiler/importers/snapshot.h"
#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::fuzz {
namespace {

void Check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

class Bytes : public trace::InputStream {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t n = std::min(size, bytes_.size() - at_);
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

// What every Recording promises, however odd its file was.
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
    Check(e.stream[i] < r.streams.size(), "stream of an entry");
    Check(e.bytes[i] <= uint64_t{1} << 62, "bytes of an entry");
  }
  for (uint32_t s = 0; s < r.stacks.size(); ++s)
    for (const uint32_t f : r.stacks.Frames({s})) Check(f < r.stacks.frame_count(), "frame");
  for (uint32_t f = 0; f < r.stacks.frame_count(); ++f)
    Check(
        r.stacks.function[f].value < r.strings.size() && r.stacks.file[f].value < r.strings.size(),
        "string of a frame");
  for (const recording::SegmentState& s : r.segments) {
    Check(s.address + s.bytes >= s.address, "segment beyond the address space");
    Check(s.stream < r.streams.size() && s.stack.value < r.stacks.size(), "segment");
    for (const recording::BlockState& b : s.blocks)
      Check(b.stack.value < r.stacks.size() && b.address + b.bytes >= b.address, "block");
  }
  for (const recording::Annotation& a : r.annotations)
    Check(a.name.value < r.strings.size() && a.begin_ns <= a.end_ns, "annotation");
}

void Read(std::string_view bytes) {
  Bytes input(bytes);
  const auto r = importers::ReadSnapshot(input, {});
  if (!r.ok()) {
    Check(!r.status().message().empty(), "an error without a message");
    return;
  }
  CheckRecording(*r);
  (void)recording::Reconstruct(*r);
  // A part of it, which needs the state at its end.
  Bytes again(bytes);
  importers::SnapshotOptions options;
  options.first_entry = r->entries.size() / 4;
  options.last_entry = r->entries.size() / 2;
  options.device = 0;
  const auto part = importers::ReadSnapshot(again, options);
  if (part.ok()) CheckRecording(*part);
}

}  // namespace

void Pickle(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('\x80')) return Read(bytes);
  Read("\x80\x04" + std::string(bytes));
}

void SnapshotJson(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with('\x80')) Read(bytes);
}

}  // namespace vramscope::fuzz
