// Pages that PyTorch writes of a memory snapshot (torch.cuda._memory_viz trace_plot): since 2.1
// they hold the whole pickle as base64, which this gives as an input of its own.
//
//   if (HoldsPickle(head)) { PickleInHtml pickle(*input, head); ReadSnapshot(pickle, {}); }
//
// One stream belongs to one thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/trace/input.h"

namespace vramscope::importers {

bool HoldsPickle(std::string_view head);
// Why another page can't be opened and what to do instead; "" of one that is not known.
std::string_view WhyNoSnapshotInHtml(std::string_view head);

// The bytes that the page's base64 stands for. `head`: what has been taken from `page`, which must
// outlive this. Read: kDataLoss where it is no base64.
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
  uint32_t bits_ = 0;  // of characters that do not make a byte yet
  int bit_count_ = 0;
  bool ended_ = false;
};

}  // namespace vramscope::importers
