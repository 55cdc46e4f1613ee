#include "profiler/importers/html_snapshot.h"

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/preview.h"
#include "profiler/importers/snapshot.h"

namespace vramscope::importers {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kChunk = size_t{64} << 10;
constexpr std::string_view kKey = "\"base64\":";

// Returns the position after the quote that opens the base64 data, or npos without such data.
size_t BeginOfBase64(std::string_view head) {
  if (head.find("local_files"sv) == std::string_view::npos) return std::string_view::npos;
  const size_t key = head.find(kKey);
  if (key == std::string_view::npos) return key;
  const size_t quote = head.find('"', key + kKey.size());
  return quote == std::string_view::npos ? quote : quote + 1;
}

// Returns the six bits that a base64 character encodes, or -1 for any other character.
int ValueOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

bool HoldsPickle(std::string_view head) { return BeginOfBase64(head) != std::string_view::npos; }

std::string_view WhyNoSnapshotInHtml(std::string_view head) {
  if (head.find("GPU Memory Timeline"sv) != std::string_view::npos)
    return i18n::Text(
        "a memory timeline as HTML (export_memory_timeline(\"x.html\")), which contains an image "
        "but no numbers. Export it with export_memory_timeline(\"x.raw.json.gz\"), or record a "
        "memory snapshot with torch.cuda.memory._record_memory_history(max_entries=100000)");
  if (head.find("alloc_data ="sv) != std::string_view::npos)
    return i18n::Text(
        "a page of torch.cuda._memory_viz from PyTorch 2.0 (2023), which contains a drawing for "
        "the browser, but no snapshot. Open the snapshot that the page was made from "
        "(torch.cuda.memory._dump_snapshot(\"snapshot.pickle\"))");
  return "";
}

PickleInHtml::PickleInHtml(trace::InputStream& page, std::string_view head) : page_(page) {
  const size_t begin = BeginOfBase64(head);
  ended_ = begin == std::string_view::npos;
  if (!ended_) buffer_ = head.substr(begin);
}

// Returns false at the end of the page.
absl::StatusOr<bool> PickleInHtml::Refill() {
  buffer_.resize(kChunk);
  at_ = 0;
  const absl::StatusOr<size_t> n = page_.Read(buffer_.data(), buffer_.size());
  buffer_.resize(n.ok() ? *n : 0);
  if (!n.ok()) return n.status();
  return *n > 0;
}

absl::StatusOr<size_t> PickleInHtml::Read(char* out, size_t size) {
  size_t have = 0;
  while (have < size && !ended_) {
    if (at_ == buffer_.size()) {
      const absl::StatusOr<bool> more = Refill();
      if (!more.ok()) return have > 0 ? absl::StatusOr<size_t>(have) : more.status();
      if (!*more) break;
    }
    const char c = buffer_[at_++];
    const int value = ValueOf(c);
    if (c == '"' || c == '=') {
      ended_ = true;
    } else if (value < 0) {
      ended_ = true;
      if (have == 0)
        return absl::DataLossError(i18n::Text("the page's base64 data has an invalid character"));
    } else {
      bits_ = (bits_ << 6 | static_cast<uint32_t>(value)) & 0xFFFFFF;
      bit_count_ += 6;
      if (bit_count_ < 8) continue;
      bit_count_ -= 8;
      out[have++] = static_cast<char>(bits_ >> bit_count_ & 0xFF);
    }
  }
  return have;
}

namespace {

bool BeginsAsPage(std::string_view head) {
  const size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return at != std::string_view::npos && head[at] == '<' && HoldsPickle(head);
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenPage(ImportRequest& request) {
  Preview preview(request.title, request.options);
  PickleInHtml pickle(*request.input, request.head);
  SnapshotOptions snapshot = SnapshotOptionsFor("", request.path, request.options, preview);
  snapshot.again = {};
  absl::StatusOr<recording::Recording> recording = ReadSnapshot(pickle, snapshot);
  request.input.reset();
  if (!recording.ok()) return recording.status();
  return FromRecording(*std::move(recording), request.title, request.options);
}

}  // namespace

ImporterEntry DeclareImporter_html_snapshot() {
  return {.place = 50, .name = "html-snapshot", .begins = BeginsAsPage, .read = OpenPage};
}

}  // namespace vramscope::importers
