// Batches of different lengths: the effects of padding, grouping and packing on a run.
#include "profiler/run/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "profiler/run/length_histogram.h"
#include "trainer/techniques/loop_technique.h"

namespace vramscope::trainer {
namespace {

// Gives micro-batches the listed lengths, which include the padding.
class Lengths final : public Technique {
 public:
  Lengths(std::vector<run::LengthRange> ranges, uint64_t seed)
      : ranges_(std::move(ranges)), seed_(seed) {}

  void OnOptions(ModelOptions& options) override {
    for (const run::LengthRange& range : ranges_) options.seq = std::max(options.seq, range.high);
  }
  // The list of lengths is repeated cyclically. If an element is a range, the length is drawn.
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

// Draws samples from a file's histogram and puts them into micro-batches.
class Samples final : public LoopTechnique {
 public:
  explicit Samples(const run::RunConfig& config)
      : path_(config.Get("samples.file")),
        way_(config.Get("samples.batches")),
        limit_(config.seq),
        rows_(config.batch / config.micro_batches),
        seed_(static_cast<uint64_t>(config.seed)) {}

  void OnOptions(ModelOptions& options) override {
    auto histogram = run::ReadHistogram(path_);
    if (!histogram.ok()) {
      status_ =
          absl::InvalidArgumentError(fmt::format("samples.file = \"{}\": {}", path_.substr(0, 200),
                                                 std::string(histogram.status().message())));
      return;
    }
    histogram_ = *std::move(histogram);
    const int longest = std::min(histogram_.lengths.back(), limit_);
    options.seq =
        way_ == "packed"
            ? static_cast<int>(std::min<int64_t>(int64_t{longest} * rows_, int64_t{1} << 30))
            : longest;
  }
  absl::Status OnModel(Model&) override { return status_; }

  BatchShape ShapeOf(BatchShape shape, int64_t micro_batch) const override {
    const std::vector<int> lengths = Drawn(micro_batch);
    if (way_ != "packed") {
      shape.seq = *std::ranges::max_element(lengths);
      return shape;
    }
    return {.rows = 1, .seq = std::accumulate(lengths.begin(), lengths.end(), int64_t{0})};
  }
  bool repeats() const override { return false; }

 private:
  // transformers' group_by_length sorts the samples of this many batches, the longest first.
  static constexpr int64_t kGrouped = 50;

  // Returns the lengths of a micro-batch's samples, which a tokenizer has truncated to `seq`.
  std::vector<int> Drawn(int64_t micro_batch) const {
    const auto draw = [&](int64_t first, int64_t count) {
      std::vector<int> out;
      for (int64_t i = first * rows_; i < (first + count) * rows_; ++i) {
        out.push_back(
            std::min(limit_, run::DrawLength(histogram_, seed_, static_cast<uint64_t>(i))));
      }
      return out;
    };
    if (way_ != "grouped") return draw(micro_batch, 1);
    std::vector<int> group = draw(micro_batch / kGrouped * kGrouped, kGrouped);
    std::ranges::sort(group, std::greater<>());
    const auto begin = group.begin() + micro_batch % kGrouped * rows_;
    return {begin, begin + rows_};
  }

  const std::string path_, way_;
  const int limit_;
  const int64_t rows_;
  const uint64_t seed_;
  run::LengthHistogram histogram_;
  absl::Status status_;
};

}  // namespace

TechniqueEntry DeclareTechnique_lengths() {
  const run::Condition file{"samples.file", false, {""}};
  return {
      .declaration =
          {.id = "lengths",
           .group = "Data",
           .title = "Lengths of batches",
           .explanation =
               "Each batch is padded to its longest sample, so batches differ in length. Blocks of "
               "one batch do not fit the next, and reserved memory grows beyond the peak. With "
               "grouped, the samples of a batch have similar lengths and need little padding. With "
               "packed, the samples of a batch are in one row, without padding.",
           .settings =
               {{.key = "lengths",
                 .help = "lengths of successive micro-batches, such as \"400,1536,400\", or a "
                         "range from which lengths are drawn, such as \"256-1024\" (seq=LIST sets "
                         "this). Empty: all micro-batches have the length seq",
                 .kind = run::ValueKind::kText,
                 .default_value = "",
                 .format = "lengths",
                 .label = "tokens"},
                {.key = "samples.file",
                 .help = "file with lengths of samples, as lines \"length,count\". Each "
                         "micro-batch draws its samples from this file (seq=FILE sets this). If "
                         "seq is a number, longer samples are truncated to this length",
                 .kind = run::ValueKind::kText,
                 .default_value = "",
                 .format = "path",
                 .label = "file"},
                {.key = "samples.batches",
                 .help = "how samples from samples.file are grouped into micro-batches",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "padded",
                 .choices = {{"padded", "samples in the order drawn, padded to the longest"},
                             {"grouped", "samples grouped by length, padded to the longest"},
                             {"packed", "samples one after another in one row"}},
                 .label = "batches"}},
           .rules =
               {{.when = {file, {"lengths", false, {""}}},
                 .why = "samples.file sets the lengths of samples, and lengths sets the lengths of "
                        "micro-batches: set only one of them",
                 .instead = {{"lengths", ""}}},
                {.when = {{"samples.batches", false, {"padded"}}, {"samples.file", true, {""}}},
                 .why = "samples.batches has no effect without samples.file",
                 .instead = {{"samples.batches", "padded"}},
                 .refuses = false},
                {.when = {file, {"model.family", true, {"vit", "basics"}}},
                 .why =
                     "samples.file contains lengths of token sequences, but the input of this "
                     "model is not a sequence of tokens; leave the setting \"samples.file\" empty",
                 .instead = {{"samples.file", ""}}},
                {.when = {file,
                          {"samples.batches", true, {"packed"}},
                          {"attention", true, {"eager", "math"}}},
                 .why = "With samples.batches=packed, explicit attention would compute the scores "
                        "of a whole row of samples; use attention=efficient or flash",
                 .instead = {{"attention", "efficient"}}}},
           .assumes = {{.when = {file, {"samples.batches", true, {"packed"}}},
                        .what = "attention over a packed row is planned like attention over one "
                                "sequence of the same length. The few bytes for the start "
                                "positions of the samples are left out"}}},
      .order = 70,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Get("samples.file").empty()) return std::make_unique<Samples>(config);
        auto ranges = run::ParseLengths(config.Get("lengths"));
        if (!ranges.ok() || ranges->empty()) return nullptr;
        return std::make_unique<Lengths>(*std::move(ranges), static_cast<uint64_t>(config.seed));
      }};
}

}  // namespace vramscope::trainer
