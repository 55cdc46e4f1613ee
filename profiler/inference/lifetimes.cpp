#include "profiler/inference/lifetimes.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "profiler/inference/pass_finder.h"
#include "profiler/inference/repetition.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using recording::Action;
using recording::History;
using recording::Recording;
using trace::Phase;

// If a peak is only a part of a forward pass that saves activations, at least this many of its
// blocks are never freed.
constexpr uint32_t kFewestLeft = 3;
// A model's first backward pass allocates at least this many gradients, because an adapter has two
// matrices.
constexpr uint32_t kFewestGradients = 2;
// The maximum length of a first step: this many times the length of another step.
constexpr uint32_t kMostOfFirst = 3;
// The construction of a model is recognized if it allocates at least this many blocks.
constexpr uint32_t kFewestSetup = 16;

class LifetimeMarker {
 public:
  LifetimeMarker(const Recording& recording, const History& history, const Lives& lives,
                 Timeline& timeline)
      : recording_(recording),
        history_(history),
        lives_(lives),
        rows_(recording, history, lives),
        passes_(rows_, history, lives),
        timeline_(timeline) {}

  void Run() {
    setup_ = SetupRows();
    known_model_ = setup_ > 0 || history_.older >= kFewestSetup;
    const bool given = !timeline_.steps.empty();
    if (!given) StepsFromDropped();
    if (!timeline_.steps.empty() || !StepsFromRepetition()) MarkSteps();
    if (!timeline_.steps.empty()) {
      MarkFree(0, timeline_.steps.front().begin, Phase::kSetup, kPhaseBeforeSteps);
    }
    for (const Rows::Dropped& d : rows_.dropped()) {
      MarkFree(d.begin, d.end, Phase::kZeroGrad, kPhaseGradientsDropped);
    }
  }

 private:
  // Marks the entries that have no phase from stacks or annotations.
  void MarkFree(EntryIndex begin, EntryIndex end, Phase phase, uint8_t rule) {
    for (EntryIndex i = begin; i < end; ++i) {
      const bool ours =
          timeline_.rule[i] >= kPhaseForwardGrows && timeline_.rule[i] <= kPhaseBeforeSteps;
      if (timeline_.phase[i] != Phase::kNone && !ours) continue;
      timeline_.phase[i] = phase;
      timeline_.rule[i] = rule;
    }
  }

  void StepsFromDropped() {
    if (rows_.dropped().empty()) return;
    EntryIndex begin = FirstStep();
    if (BeginsElsewhere()) AddStep(0, begin, kStepGradientsDropped);
    for (const Rows::Dropped& d : rows_.dropped()) {
      AddStep(begin, d.end, kStepGradientsDropped);
      begin = rows_.Born(rows_.RowAt(d.end));
    }
    if (begin < rows_.entries())
      AddStep(begin, std::min(rows_.entries(), lives_.teardown), kStepGradientsDropped);
  }
  void AddStep(EntryIndex begin, EntryIndex end, uint8_t rule) {
    if (begin >= end) return;
    timeline_.steps.push_back({begin, end, static_cast<uint32_t>(timeline_.steps.size()), rule});
  }

  // Constructing or moving a model allocates blocks without freeing any. Returns the number of such
  // allocations at the beginning of the recording (0 if it begins after them).
  uint32_t SetupRows() const {
    EntryIndex first_free = 0;
    while (first_free < rows_.entries() &&
           recording_.entries.action[first_free] != Action::kFreeCompleted &&
           recording_.entries.action[first_free] != Action::kFreeRequested) {
      ++first_free;
    }
    uint32_t rows = 0;
    while (rows < rows_.size() && rows_.Born(rows) < first_free &&
           rows_.Dead(rows) >= rows_.entries())
      ++rows;
    // If a model is older than the recording, these rows are states of an optimizer instead.
    return rows >= kFewestSetup && history_.older < kFewestSetup ? rows : 0;
  }

  // Returns where the first step begins: where the allocations that begin the second step occur for
  // the first time, or else at the first allocation that is freed in the recording.
  EntryIndex FirstStep() const {
    const uint32_t second = rows_.RowAt(rows_.dropped().front().end);
    if (second + kSignature <= rows_.size()) {
      for (uint32_t row = 0; row + kSignature <= second; ++row) {
        if (passes_.Similar(row, second)) return rows_.Born(row);
      }
      if (history_.older > 0) return 0;
    }
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_.Dead(row) < rows_.entries()) return rows_.Born(row);
    }
    return 0;
  }
  // Whether the peaks are recomputed layers of a backward pass that was not recorded to its end.
  // The saved blocks of the other layers are then not freed. The first peak may be the forward pass
  // instead.
  bool LayersRunAgain(const std::vector<LivePeak>& peaks) const {
    const LivePeak before{setup_, peaks.front().begin};
    const bool none = before.end - before.begin > peaks.front().end - peaks.front().begin;
    const LivePeak& forward = none ? before : peaks.front();
    const auto layers = peaks.begin() + (none ? 0 : 1);
    return layers != peaks.end() && std::all_of(layers, peaks.end(), [&](const LivePeak& layer) {
             return passes_.RunsAgain(forward, layer);
           });
  }
  // Finds the boundary between forward and backward: the loss and its gradient, two consecutive
  // scalars. They are allocated before the first gradient of a parameter, when the number of saved
  // blocks is highest.
  uint32_t Middle(const LivePeak& peak, EntryIndex until, uint32_t first,
                  const std::vector<uint32_t>& heights) const {
    uint32_t pair = peak.end, best_pair = peak.end, single = peak.end, highest = peak.begin;
    uint32_t forward_pair = peak.end;  // used if the highest part is a recomputed layer
    for (uint32_t row = peak.begin; row < peak.end; ++row) {
      const uint32_t height = heights[row - first];
      // After the loss, a block of a parameter's size that is not freed is a gradient.
      if (rows_.Dead(row) >= until && rows_.ParameterSized(row) && pair != peak.end) return pair;
      if (height >= heights[highest - first]) highest = row;
      if (rows_.Bytes(row) > kScalar) continue;
      if (height * 5 >= peak.height * 4) single = row;
      if (row == peak.begin || rows_.Bytes(row - 1) > kScalar) continue;
      if (height * 2 >= heights[highest - first]) forward_pair = row;
      if (height * 2 < peak.height) continue;
      pair = row;
      if (best_pair == peak.end || height >= heights[best_pair - first]) best_pair = row;
    }
    if (best_pair != peak.end) return best_pair;
    if (forward_pair != peak.end) return forward_pair;
    // If the peak begins nearly at its full height, the recording began within backward.
    if (peak.begin == 0 && BeginsElsewhere() && timeline_.phase[rows_.Born(0)] == Phase::kNone &&
        heights[0] * 20 >= peak.height * 19) {
      return 0;
    }
    return single != peak.end ? single : highest;
  }

  // After the construction of a model, its first backward pass allocates gradients and does not
  // free them. If a pass leaves no gradients, it has no backward: it is an evaluation, for example,
  // or an encoder that is not trained.
  bool MakesNoGradients(const LivePeak& peak, uint32_t middle) const {
    if (setup_ == 0 || peak.end >= rows_.size()) return false;
    uint32_t stay = 0;
    for (uint32_t row = middle; row < peak.end; ++row)
      stay += rows_.Bytes(row) > kScalar && rows_.Dead(row) >= rows_.Born(peak.end);
    return stay < kFewestGradients;
  }

  // Whether the recording ends within the backward pass of this peak. Many of the blocks that
  // forward saved are then still live.
  bool EndsInBackward(const LivePeak& peak, uint32_t middle) const {
    if (!known_model_ || peak.end + kSignature < rows_.size() || middle >= rows_.size() ||
        rows_.Bytes(middle) > kScalar) {
      return false;
    }
    uint32_t stay = 0;
    for (uint32_t row = std::max(peak.begin, setup_); row < middle; ++row)
      stay += rows_.Dead(row) >= rows_.entries();
    return stay >= kTrainingHeight;
  }

  // The first and the last step may be incomplete. They are then marked like the step beside them.
  void MarkSteps() {
    for (size_t i = 0; i < timeline_.steps.size(); ++i) {
      const bool cut =
          i > 0 && i + 1 == timeline_.steps.size() && timeline_.steps[i].end == rows_.entries() &&
          (rows_.dropped().empty() || rows_.dropped().back().end <= timeline_.steps[i].begin);
      if (!cut || !MarkLikeTheOneBefore(timeline_.steps[i - 1], timeline_.steps[i]))
        MarkStep(timeline_.steps[i]);
    }
    if (timeline_.steps.size() > 1 && BeginsElsewhere() &&
        !passes_.Similar(rows_.RowAt(timeline_.steps[0].begin),
                         rows_.RowAt(timeline_.steps[1].begin))) {
      MarkLikeTheOneAfter(timeline_.steps[1], timeline_.steps[0]);
    }
  }
  // Whether the recording seems to begin within a step: a model exists before the first pass, but
  // the recording does not contain its construction.
  bool BeginsElsewhere() const { return setup_ == 0 && known_model_; }

  void MarkStep(const Labels::Step& step) {
    // Blocks that are live when the gradients are freed are not temporaries of the step.
    EntryIndex until = step.end;
    const auto drop =
        std::upper_bound(rows_.dropped().begin(), rows_.dropped().end(), step.end,
                         [](EntryIndex end, const Rows::Dropped& d) { return end < d.end; });
    if (drop != rows_.dropped().begin() && std::prev(drop)->begin >= step.begin) {
      until = std::prev(drop)->begin;
    }
    const uint32_t first = rows_.RowAt(step.begin), last = rows_.RowAt(step.end);
    const std::vector<uint32_t> heights =
        passes_.Heights(first, last, step.begin, until, &step == &timeline_.steps.front());
    MarkPeaks(passes_.FindPeaks(first, last, until, heights), step.begin, step.end, until, first,
              heights);
  }

  // Marks an incomplete last step like the step before it, if their allocations are the same up to
  // the end of the recording. Otherwise returns false.
  bool MarkLikeTheOneBefore(const Labels::Step& before, const Labels::Step& step) {
    const uint32_t first = rows_.RowAt(step.begin), last = rows_.RowAt(step.end);
    const uint32_t before_end = rows_.RowAt(before.end);
    uint32_t other = rows_.RowAt(before.begin), equal = 0;
    std::vector<uint32_t> of_row(last - first, UINT32_MAX);
    for (uint32_t row = first; row < last && other < before_end; ++row) {
      for (uint32_t skip = 0; skip <= kMostSkipped && other + skip < before_end; ++skip) {
        if (rows_.Bytes(other + skip) != rows_.Bytes(row)) continue;
        other += skip;
        of_row[row - first] = other++;
        ++equal;
        break;
      }
    }
    if (last == first || equal * 10 < (last - first) * 9) return false;
    CopyPhases(step, first, of_row, Phase::kForward, kPhaseForwardGrows);
    return true;
  }
  // Marks an incomplete first step like the step after it. Its beginning was not recorded, so the
  // two steps are compared from their ends. The first step may also allocate optimizer states.
  void MarkLikeTheOneAfter(const Labels::Step& after, const Labels::Step& step) {
    const uint32_t first = rows_.RowAt(step.begin), last = rows_.RowAt(step.end);
    const uint32_t after_begin = rows_.RowAt(after.begin);
    uint32_t other = rows_.RowAt(after.end), equal = 0, transient = 0;
    std::vector<uint32_t> of_row(last - first, UINT32_MAX);
    for (uint32_t row = last; row-- > first;) {
      transient += rows_.Dead(row) < rows_.entries();
      for (uint32_t skip = 1; skip <= kMostSkipped + 1 && other >= after_begin + skip; ++skip) {
        if (rows_.Bytes(other - skip) != rows_.Bytes(row)) continue;
        other -= skip;
        of_row[row - first] = other;
        equal += rows_.Dead(row) < rows_.entries();
        break;
      }
    }
    const auto known = std::find_if(of_row.begin(), of_row.end(), [&](uint32_t row) {
      return row != UINT32_MAX && timeline_.phase[rows_.Born(row)] != Phase::kNone;
    });
    if (known == of_row.end() || equal * 10 < transient * 8) return;
    if (timeline_.phase[rows_.Born(*known)] == Phase::kForward) return;  // MarkStep has marked it
    CopyPhases(step, first, of_row, timeline_.phase[rows_.Born(*known)],
               timeline_.rule[rows_.Born(*known)]);
  }
  // `of_row`: for each row of the step, from `first` on, the row of the other step that it matches.
  void CopyPhases(const Labels::Step& step, uint32_t first, const std::vector<uint32_t>& of_row,
                  Phase phase, uint8_t rule) {
    EntryIndex at = step.begin;
    uint32_t last_known = 0;
    for (uint32_t i = 0; i < of_row.size(); ++i) {
      if (of_row[i] == UINT32_MAX) continue;
      const EntryIndex then = rows_.Born(of_row[i]);
      const uint32_t unknown = std::exchange(last_known, i) + 1;
      if (timeline_.phase[then] == Phase::kNone || timeline_.phase[then] == phase) continue;
      // If the optimizer allocates states here, its phase begins with them.
      uint32_t from = timeline_.phase[then] == Phase::kOptimizer ? unknown : i;
      while (from < i && from > 0 && rows_.Dead(first + from - 1) >= rows_.entries()) --from;
      const EntryIndex begin = rows_.Born(first + from);
      MarkFree(at, begin, phase, rule);
      at = begin;
      phase = timeline_.phase[then];
      rule = timeline_.rule[then];
    }
    MarkFree(at, step.end, phase, rule);
  }

  void MarkPeaks(const std::vector<LivePeak>& peaks, EntryIndex begin, EntryIndex end,
                 EntryIndex until, uint32_t first, const std::vector<uint32_t>& heights) {
    EntryIndex at = begin;
    bool no_gradients = false;
    for (const LivePeak& peak : peaks) {
      const EntryIndex hump_end = std::min(rows_.Born(peak.end), end);
      const uint32_t row = Middle(peak, until, first, heights);
      no_gradients = !any_backward_ && MakesNoGradients(peak, row);
      const bool backward =
          !no_gradients && (passes_.SavesForBackward(peak, row) || EndsInBackward(peak, row));
      any_backward_ |= backward;
      const EntryIndex middle = backward ? rows_.Born(row) : hump_end;
      MarkFree(at, middle, Phase::kForward, kPhaseForwardGrows);
      MarkFree(middle, hump_end, Phase::kBackward, kPhaseBackwardShrinks);
      at = hump_end;
    }
    // If no allocation follows the last peak, the frees after its backward belong to backward, too.
    const bool more = peaks.empty() || peaks.back().end < rows_.RowAt(end);
    if (!more && at > begin && timeline_.phase[at - 1] == Phase::kBackward) {
      MarkFree(at, end, Phase::kBackward, kPhaseBackwardShrinks);
    } else if (no_gradients) {
      MarkFree(at, end, Phase::kForward, kPhaseForwardGrows);
    } else {
      MarkFree(at, end, Phase::kOptimizer, kPhaseAfterGradients);
    }
  }

  // Whether the recording ends before or soon after the beginning of backward. Blocks of the first
  // pass are then never freed, and the number of transient blocks stays small.
  bool OnlyForward(const std::vector<uint32_t>& heights) const {
    uint32_t stay = 0;
    for (uint32_t row = setup_; row < rows_.size(); ++row) {
      if (heights[row] >= kTrainingHeight) return false;
      stay += rows_.Dead(row) >= rows_.entries();
    }
    return stay >= kSavedBlocks;
  }

  // Finds steps that do not free their gradients together: gradients are set to zero, or there are
  // none. Returns false if steps were found but not marked yet.
  bool StepsFromRepetition() {
    const EntryIndex stop = std::min(rows_.entries(), lives_.teardown);
    const std::vector<uint32_t> heights = passes_.Heights(0, rows_.size(), 0, stop, true);
    if (known_model_ && OnlyForward(heights)) {
      AddStep(rows_.Born(setup_), stop, kOrderOnePass);
      MarkCutPass(setup_, stop);
      return true;
    }
    const std::vector<LivePeak> peaks = passes_.FindPeaks(0, rows_.size(), stop, heights);
    if (peaks.empty()) return true;
    if (known_model_ && LayersRunAgain(peaks)) {
      AddStep(rows_.Born(setup_), stop, kOrderOnePass);
      MarkCutPass(setup_, stop);
      return true;
    }
    // If most peaks leave blocks that are never freed, all peaks are parts of one forward pass. It
    // saves activations for a backward pass that was not recorded.
    size_t leaving = 0;
    for (const LivePeak& peak : peaks) {
      uint32_t left = 0;
      for (uint32_t row = peak.begin; row < peak.end; ++row)
        left += rows_.Dead(row) >= rows_.entries();
      leaving += left >= kFewestLeft;
    }
    if (peaks.size() > 2 && leaving * 2 > peaks.size()) {
      AddStep(rows_.Born(0), stop, kOrderOnePass);
      MarkFree(rows_.Born(0), stop, Phase::kForward, kPhaseForwardGrows);
      return true;
    }
    std::vector<uint64_t> sizes(rows_.size());
    for (uint32_t row = 0; row < rows_.size(); ++row) sizes[row] = rows_.Bytes(row);
    const uint32_t period = Period(sizes);
    // Peaks within one period are micro-batches of one step.
    size_t each = 1;
    if (period > 0) {
      while (each < peaks.size() &&
             peaks[peaks.size() - 1].begin - peaks[peaks.size() - 1 - each].begin < period) {
        ++each;
      }
    }
    const size_t ragged = peaks.size() % each;
    const uint8_t rule = period > 0 && peaks.size() > each ? kStepRepetition : kOrderOnePass;
    if (rule == kOrderOnePass && BeginsElsewhere() &&
        ForwardAgain(peaks.back().end) == rows_.size()) {
      // A first step that allocates states is longer than the other steps.
      const uint32_t later =
          period > 0 ? period : Period(std::span(sizes).subspan(rows_.size() / 3));
      if (StepsFromPeriod(later, heights, stop)) return false;
    }
    for (size_t i = 0; i < peaks.size();) {
      const size_t next = i == 0 && ragged > 0 ? ragged : i + each;
      // In a short recording, the first step begins before its peak. Its first blocks, which follow
      // the construction of the model, are not freed.
      const bool from_setup = i == 0 && known_model_ && rule == kOrderOnePass;
      const EntryIndex begin = rows_.Born(from_setup ? setup_ : peaks[i].begin);
      const EntryIndex end = next < peaks.size() ? rows_.Born(peaks[next].begin) : stop;
      AddStep(begin, end, rule);
      MarkPeaks({peaks.begin() + static_cast<ptrdiff_t>(i),
                 peaks.begin() + static_cast<ptrdiff_t>(std::min(next, peaks.size()))},
                begin, end, stop, 0, heights);
      i = next;
    }
    if (known_model_ && rule == kOrderOnePass) MarkForwardAgain(peaks.back().end, stop);
    return true;
  }
  // Finds steps in a recording that begins within a pass, where no peak is clear. A step begins
  // where the number of blocks starts to rise to the maximum of its period.
  bool StepsFromPeriod(uint32_t period, const std::vector<uint32_t>& heights, EntryIndex stop) {
    if (period < kSignature || period >= rows_.size()) return false;
    const auto begin = heights.end() - period;
    const auto top = std::max_element(begin, heights.end());
    const uint32_t lowest = *std::min_element(begin, heights.end());
    // Layers repeat, too, but their blocks do not rise from almost none to the overall maximum.
    const uint32_t highest = *std::max_element(heights.begin(), heights.end());
    if (*top < kTrainingHeight || *top * 10 < highest * 8 || lowest * 5 > *top) return false;
    auto low = top;
    while (low != begin && *low > lowest + kHeldBlocks / 4) --low;
    std::vector<uint32_t> begins = {static_cast<uint32_t>(low - heights.begin())};
    while (begins.back() >= period && passes_.Similar(begins.back() - period, begins.front())) {
      begins.push_back(begins.back() - period);
    }
    if (begins.size() == 1 && begins[0] < kSignature) return false;
    // A first step is longer than others because it allocates states. But if it seems to be many
    // times as long, the period found is that of layers, not of steps.
    if (begins.back() > kMostOfFirst * period) return false;
    AddStep(0, rows_.Born(begins.back()), kStepRepetition);
    for (size_t i = begins.size(); i-- > 0;) {
      AddStep(rows_.Born(begins[i]), i > 0 ? rows_.Born(begins[i - 1]) : stop, kStepRepetition);
    }
    return true;
  }
  // Marks a forward pass after the last backward pass. If the recording ends within this forward
  // pass, none of its blocks is freed.
  void MarkForwardAgain(uint32_t from, EntryIndex stop) {
    uint32_t row = ForwardAgain(from);
    if (row == rows_.size()) return;
    uint32_t before = setup_;
    for (; row > from && before > 0 && rows_.Bytes(row - 1) == rows_.Bytes(before - 1); --before)
      --row;
    MarkCutPass(row, stop);
  }
  // Returns the row at which the first allocations of the first forward pass are repeated.
  uint32_t ForwardAgain(uint32_t from) const {
    for (uint32_t row = from; row + kSignature <= rows_.size(); ++row) {
      if (passes_.Similar(setup_, row)) return row;
    }
    return rows_.size();
  }
  // Marks an incomplete pass as forward. If blocks allocated before the loss are freed after the
  // loss and its gradient, marks everything from the loss on as backward.
  void MarkCutPass(uint32_t first, EntryIndex stop) {
    uint32_t middle = rows_.size();
    for (uint32_t row = first + 1; row + 1 < rows_.size(); ++row) {
      if (rows_.Bytes(row) <= kScalar && rows_.Bytes(row - 1) <= kScalar) middle = row;
    }
    bool goes = false;
    for (uint32_t row = first; middle < rows_.size() && row + 1 < middle; ++row) {
      goes |= rows_.Dead(row) > rows_.Born(middle) && rows_.Dead(row) < rows_.entries();
    }
    const EntryIndex loss = goes ? rows_.Born(middle) : stop;
    MarkFree(rows_.Born(first), loss, Phase::kForward, kPhaseForwardGrows);
    MarkFree(loss, stop, Phase::kBackward, kPhaseBackwardShrinks);
  }

  const Recording& recording_;
  const History& history_;
  const Lives& lives_;
  const Rows rows_;
  const PassFinder passes_;
  Timeline& timeline_;
  uint32_t setup_ = 0;         // rows at the beginning that construct the model
  bool known_model_ = false;   // blocks before the first pass include a model
  bool any_backward_ = false;  // a backward pass has been marked
};

}  // namespace

void MarkFromLifetimes(const Recording& recording, const History& history, const Lives& lives,
                       Timeline& timeline) {
  LifetimeMarker(recording, history, lives, timeline).Run();
}

}  // namespace vramscope::inference
