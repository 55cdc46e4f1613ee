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

// Blocks that a part of a forward leaves at least, if it saves for a backward to come.
constexpr uint32_t kFewestLeft = 3;
// Gradients that the first backward of a model leaves at least: of an adapter's two matrices.
constexpr uint32_t kFewestGradients = 2;
// How many times as long as the others a first step may be.
constexpr uint32_t kMostOfFirst = 3;
// Blocks of the smallest model that is seen being built.
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
  // Only where neither stacks nor annotations said anything.
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

  // A model that is built or moved asks for block after block and lets none go; how many rows.
  // None: the recording begins elsewhere.
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
    // With a model there already, it is an optimizer that makes its states.
    return rows >= kFewestSetup && history_.older < kFewestSetup ? rows : 0;
  }

  // Where the second step's first requests come for the first time; else the first request of
  // something that is let go again.
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
  // A backward that is cut off and runs layers again: what the others saved is not let go, so that
  // there are no peaks but theirs, behind a forward that is one or none.
  bool LayersRunAgain(const std::vector<LivePeak>& peaks) const {
    const LivePeak before{setup_, peaks.front().begin};
    const bool none = before.end - before.begin > peaks.front().end - peaks.front().begin;
    const LivePeak& forward = none ? before : peaks.front();
    const auto layers = peaks.begin() + (none ? 0 : 1);
    return layers != peaks.end() && std::all_of(layers, peaks.end(), [&](const LivePeak& layer) {
             return passes_.RunsAgain(forward, layer);
           });
  }
  // The loss and its gradient are two scalars in a row; before the first gradient of a parameter,
  // and with more saved than anywhere else.
  uint32_t Middle(const LivePeak& peak, EntryIndex until, uint32_t first,
                  const std::vector<uint32_t>& heights) const {
    uint32_t pair = peak.end, best_pair = peak.end, single = peak.end, highest = peak.begin;
    uint32_t forward_pair = peak.end;  // where a layer that backward runs again is what is highest
    for (uint32_t row = peak.begin; row < peak.end; ++row) {
      const uint32_t height = heights[row - first];
      // A result that happens to have a parameter's size, and is held, comes before the loss.
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
    // As much was there when the recording began as ever after: it began in backward.
    if (peak.begin == 0 && BeginsElsewhere() && timeline_.phase[rows_.Born(0)] == Phase::kNone &&
        heights[0] * 20 >= peak.height * 19) {
      return 0;
    }
    return single != peak.end ? single : highest;
  }

  // Of a recording that sees the model built: its first backward makes gradients, which stay. A
  // pass that leaves none saved nothing for a backward (an evaluation, an encoder that does not
  // train).
  bool MakesNoGradients(const LivePeak& peak, uint32_t middle) const {
    if (setup_ == 0 || peak.end >= rows_.size()) return false;
    uint32_t stay = 0;
    for (uint32_t row = middle; row < peak.end; ++row)
      stay += rows_.Bytes(row) > kScalar && rows_.Dead(row) >= rows_.Born(peak.end);
    return stay < kFewestGradients;
  }

  // A backward that the recording cuts off lets go only what forward made last; the rest stays.
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

  // The last and the first one may be cut off; they are like their neighbours.
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
  // Neither with a model being made nor, as far as known, with a step.
  bool BeginsElsewhere() const { return setup_ == 0 && known_model_; }

  void MarkStep(const Labels::Step& step) {
    // What lives on when the gradients go is no temporary of the step.
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

  // A last step that the recording does not see the end of: its requests are those of the step
  // before, as far as it goes. False: they are not.
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
  // A first step that the recording does not see the begin of: from the end backwards. If it is the
  // program's first, it makes states that the others do not.
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
    if (timeline_.phase[rows_.Born(*known)] == Phase::kForward) return;  // a peak by itself
    CopyPhases(step, first, of_row, timeline_.phase[rows_.Born(*known)],
               timeline_.rule[rows_.Born(*known)]);
  }
  // `of_row`: for each row of the step, from `first` on, the one that it is like.
  void CopyPhases(const Labels::Step& step, uint32_t first, const std::vector<uint32_t>& of_row,
                  Phase phase, uint8_t rule) {
    EntryIndex at = step.begin;
    uint32_t last_known = 0;
    for (uint32_t i = 0; i < of_row.size(); ++i) {
      if (of_row[i] == UINT32_MAX) continue;
      const EntryIndex then = rows_.Born(of_row[i]);
      const uint32_t unknown = std::exchange(last_known, i) + 1;
      if (timeline_.phase[then] == Phase::kNone || timeline_.phase[then] == phase) continue;
      // The states that only a first step makes come first of its optimizer.
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
    // Without a request after it, backward may go on; what is left is its frees.
    const bool more = peaks.empty() || peaks.back().end < rows_.RowAt(end);
    if (!more && at > begin && timeline_.phase[at - 1] == Phase::kBackward) {
      MarkFree(at, end, Phase::kBackward, kPhaseBackwardShrinks);
    } else if (no_gradients) {
      MarkFree(at, end, Phase::kForward, kPhaseForwardGrows);
    } else {
      MarkFree(at, end, Phase::kOptimizer, kPhaseAfterGradients);
    }
  }

  // Of what the model's first pass makes, something stays all along, and what is let go are few at
  // a time: hardly any of backward was recorded.
  bool OnlyForward(const std::vector<uint32_t>& heights) const {
    uint32_t stay = 0;
    for (uint32_t row = setup_; row < rows_.size(); ++row) {
      if (heights[row] >= kTrainingHeight) return false;
      stay += rows_.Dead(row) >= rows_.entries();
    }
    return stay >= kSavedBlocks;
  }

  // Nothing is dropped together: gradients stay (filled with zeros), or there are none.
  // False: steps are found, and not yet marked.
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
    // A forward that saves for a backward that was not recorded: every part of it leaves something.
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
    // FindPeaks of one period are micro-batches of one step.
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
      // A first step that makes states is longer than the others.
      const uint32_t later =
          period > 0 ? period : Period(std::span(sizes).subspan(rows_.size() / 3));
      if (StepsFromPeriod(later, heights, stop)) return false;
    }
    for (size_t i = 0; i < peaks.size();) {
      const size_t next = i == 0 && ragged > 0 ? ragged : i + each;
      // What the first peak does not let go, the recording not lasting, was made before it.
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
  // Where the recording begins within a pass, no peak is clear. Steps begin where the number of
  // blocks begins to rise to the last period's top.
  bool StepsFromPeriod(uint32_t period, const std::vector<uint32_t>& heights, EntryIndex stop) {
    if (period < kSignature || period >= rows_.size()) return false;
    const auto begin = heights.end() - period;
    const auto top = std::max_element(begin, heights.end());
    const uint32_t lowest = *std::min_element(begin, heights.end());
    // Layers repeat too, but not from hardly any blocks to as many as there ever are.
    const uint32_t highest = *std::max_element(heights.begin(), heights.end());
    if (*top < kTrainingHeight || *top * 10 < highest * 8 || lowest * 5 > *top) return false;
    auto low = top;
    while (low != begin && *low > lowest + kHeldBlocks / 4) --low;
    std::vector<uint32_t> begins = {static_cast<uint32_t>(low - heights.begin())};
    while (begins.back() >= period && passes_.Similar(begins.back() - period, begins.front())) {
      begins.push_back(begins.back() - period);
    }
    if (begins.size() == 1 && begins[0] < kSignature) return false;
    // A first step is longer by its states, not by many times: layers that are run again.
    if (begins.back() > kMostOfFirst * period) return false;
    AddStep(0, rows_.Born(begins.back()), kStepRepetition);
    for (size_t i = begins.size(); i-- > 0;) {
      AddStep(rows_.Born(begins[i]), i > 0 ? rows_.Born(begins[i - 1]) : stop, kStepRepetition);
    }
    return true;
  }
  // After the last backward: nothing of what a next forward makes goes, if the recording ends in
  // it.
  void MarkForwardAgain(uint32_t from, EntryIndex stop) {
    uint32_t row = ForwardAgain(from);
    if (row == rows_.size()) return;
    uint32_t before = setup_;
    for (; row > from && before > 0 && rows_.Bytes(row - 1) == rows_.Bytes(before - 1); --before)
      --row;
    MarkCutPass(row, stop);
  }
  // Where the first forward's first requests come again.
  uint32_t ForwardAgain(uint32_t from) const {
    for (uint32_t row = from; row + kSignature <= rows_.size(); ++row) {
      if (passes_.Similar(setup_, row)) return row;
    }
    return rows_.size();
  }
  // A forward, and backward from the loss and its gradient on, if the recording goes so far: then
  // something that was there before the two goes after them.
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
  uint32_t setup_ = 0;         // rows at the recording's begin that build the model
  bool known_model_ = false;   // what is there before the first pass holds a model
  bool any_backward_ = false;  // marked so far
};

}  // namespace

void MarkFromLifetimes(const Recording& recording, const History& history, const Lives& lives,
                       Timeline& timeline) {
  LifetimeMarker(recording, history, lives, timeline).Run();
}

}  // namespace vramscope::inference
