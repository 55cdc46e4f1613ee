#include "tests/fuzz/assembly_entries.h"

#include <string>
#include <utility>

#include "profiler/trace/frame.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/trace_entries.h"
#include "ui/worker/assembly.h"

namespace vramscope::fuzz {

void WorkerAnswers(const uint8_t* data, size_t size) {
  const std::string bytes = WithRightChecksums({reinterpret_cast<const char*>(data), size});
  trace::FrameDecoder decoder;
  decoder.Append(bytes);
  ui::Assembly assembly([](auto) {});
  // Skips the last frame of a run, as the worker's client does: it does not belong to the trace.
  size_t total = 0;
  for (int i = 0; i < 64 && total < trace::kMaxPayload; ++i) {
    auto frame = decoder.NextUnverified();
    if (!frame.ok() || !frame->has_value()) break;
    total += (*frame)->payload_size;
    if ((*frame)->type != trace::FrameType::kEnd) assembly.Add(**std::move(frame));
  }
  const absl::Status refused = assembly.Settle();
  Check(refused.ok() || !refused.message().empty(), "a refusal without a message");
  const auto trace = assembly.Finish("the worker is gone");
  if (trace != nullptr) CheckTrace(*trace);
}

}  // namespace vramscope::fuzz
