// Micro-batches of different lengths: what padding to the longest of each batch does to a run.
#include "profiler/run/lengths.h"

#include <algorithm>
#include <random>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class Lengths final : public Technique {
 public:
  Lengths(std::vector<run::LengthRange> ranges, uint64_t seed)
      : ranges_(std::move(ranges)), seed_(seed) {}

  void OnOptions(ModelOptions& options) override {
    for (const run::LengthRange& range : ranges_) options.seq = std::max(options.seq, range.high);
  }
  // The list is gone through again and again; a range draws a length for each micro-batch.
  int SeqOf(int, int64_t micro_batch) const override {
    const run::LengthRange& range = ranges_[static_cast<size_t>(micro_batch) % ranges_.size()];
    if (range.low == range.high) return range.low;
    std::mt19937_64 random(seed_ + static_cast<uint64_t>(micro_batch));
    return range.low +
           static_cast<int>(random() % static_cast<uint64_t>(range.high - range.low + 1));
  }
  bool repeats() const override { return false; }

 private:
  std::vector<run::LengthRange> ranges_;
  uint64_t seed_;
};

}  // namespace

TechniqueEntry DeclareTechnique_lengths() {
  return {
      .declaration =
          {.id = "lengths",
           .group = "Data",
           .title = "Lengths of the batches",
           .explanation =
               "Batches that are padded to their own longest sample differ in length: blocks of "
               "one do not fit the next, and what is reserved grows beyond the peak.",
           .settings = {{.key = "lengths",
                         .help = "lengths of the micro-batches in turn, \"400,1536,400\", or a "
                                 "range to draw from, \"256-1024\"; empty: all as seq says",
                         .kind = run::ValueKind::kText,
                         .default_value = "",
                         .format = "lengths",
                         .label = "tokens"}}},
      .order = 70,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        auto ranges = run::ParseLengths(config.Get("lengths"));
        if (!ranges.ok() || ranges->empty()) return nullptr;
        return std::make_unique<Lengths>(*std::move(ranges), static_cast<uint64_t>(config.seed));
      }};
}

}  // namespace vramscope::trainer
