// Reads the HTML pages that PyTorch writes for a memory snapshot (torch.cuda._memory_viz
// trace_plot). Since 2.1 these pages contain the whole pickle as base64, which
// PickleInHtml decodes to an input stream.
//
//   if (HoldsPickle(head)) { PickleInHtml pickle(*input, head); ReadSnapshot(pickle, {}); }
//
// Use each stream from one thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/trace/input.h"

namespace vramscope::importers {

bool HoldsPickle(std::string_view head);
// Returns why a page without a pickle cannot be opened, and what to do instead, or "" if the kind
// of page is unknown.
std::string_view WhyNoSnapshotInHtml(std::string_view head);

// Decodes the base64 in the page. `head`: the bytes already read from `page`. `page` must outlive
// this object. Read() returns kDataLoss if the base64 is invalid.
class PickleInHtml : public trace::InputStream {
 public:
  PickleInHtml(trace::InputStream& page, std::string_view head);
  absl::StatusOr<size_t> Read(char* out, size_t size) override;
  uint64_t consumed() const override { return page_.consumed(); }
  uint64_t total() const override { return page_.total(); }
  bool compressed() const override { return page_.compressed(); }

 private:
  absl::StatusOr<bool> Refill();

  trace::InputStream& page_;
  std::string buffer_;
  size_t at_ = 0;
  uint32_t bits_ = 0;  // bits of characters that do not complete a byte yet
  int bit_count_ = 0;
  bool ended_ = false;
};

}  // namespace vramscope::importers
