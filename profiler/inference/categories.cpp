#include "profiler/inference/categories.h"

#include <algorithm>
#include <optional>

#include "profiler/base/hash_map.h"
#include "profiler/inference/first_step.h"
#include "profiler/inference/kv_cache.h"
#include "profiler/inference/persistent_blocks.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using recording::Action;
using recording::History;
using recording::kNoEntry;
using recording::Recording;
using trace::Category;
using trace::Phase;

constexpr uint32_t kMostWorkspaces = 4;  // per recording: one for each thread and stream

// If at least this many blocks are live after a forward pass, they are kept for a backward pass.
constexpr uint32_t kGraphBlocks = 8;
// The most results of a step that variables refer to later: a loss, logits, hidden states.
constexpr uint32_t kResults = 4;

// An optimizer makes at least this many allocations. Fewer may belong to the end of backward.
constexpr uint32_t kOptimizerRequests = 4;

// Maximum bytes of optimizer state per byte of gradients. With gradients in half precision, two
// moments and a copy of the weights in fp32 are six bytes of state per byte.
constexpr uint64_t kMaxDifferences = 8;

// At the end of a recording, this many blocks may be temporaries that would be freed soon.
constexpr uint32_t kUnsure = 16;

class Categorizer {
 public:
  Categorizer(const Recording& r, const History& h, const Stacks& s, const Timeline& t,
              const Lives& l, const Recomputed& recomputed, Labels& labels)
      : recording_(r),
        history_(h),
        stacks_(s),
        timeline_(t),
        lives_(l),
        recomputed_(recomputed),
        labels_(labels),
        entry_count_(r.entries.size()),
        count_(h.allocations.size()),
        passes_(Passes(t)) {}

  void Run() {
    FindStaticSizes();
    CountWorkspaces();
    // Looks for growing caches only in runs without training.
    if (std::none_of(passes_.begin(), passes_.end(),
                     [](const PassRange& p) { return p.pass == Pass::kBackward; })) {
      grows_ = FindGrowing(history_, lives_, entry_count_);
    }
    FindCaches();
    std::vector<Persistent> kept;
    for (uint32_t a = 0; a < history_.older; ++a) {
      if (!Older(a)) kept.push_back({.allocation = a, .bytes = Bytes(a), .older = true});
    }
    size_t pass = 0, step = 0, again = 0;
    for (uint32_t a = history_.older; a < count_; ++a) {
      const EntryIndex born = lives_.born[a];
      while (pass < passes_.size() && passes_[pass].end <= born) {
        EndPass(pass++);
      }
      while (step < timeline_.steps.size() && timeline_.steps[step].end <= born) ++step;
      while (again < recomputed_.size() && recomputed_[again].second <= born) ++again;
      now_.pass = pass < passes_.size() && passes_[pass].begin <= born ? pass : passes_.size();
      now_.step = step;
      now_.before_steps = timeline_.steps.empty() || born < timeline_.steps.front().begin;
      now_.recomputed = again < recomputed_.size() && recomputed_[again].first <= born
                            ? recomputed_[again].second
                            : 0;
      if (Young(a)) continue;
      kept.push_back(
          {.allocation = a, .bytes = Bytes(a), .batch = timeline_.phase[born] == Phase::kData});
    }
    EndPass(pass);
    ClassifyAllKept(kept);
    PromoteStates();
    for (uint32_t a = history_.older; a < grows_.size(); ++a) {
      if (grows_[a] != Grows::kFrom || labels_.category[a] == Category::kKvCache) continue;
      Retag(a, a + 1 < count_ ? lives_.born[a + 1] : entry_count_, Category::kKvCache,
            kLifeKvCache);
    }
    std::stable_sort(labels_.retags.begin(), labels_.retags.end(),
                     [](const Labels::Retag& x, const Labels::Retag& y) { return x.at < y.at; });
  }

 private:
  struct Place {
    size_t pass = 0, step = 0;  // indexes; past the end: none
    bool before_steps = false;
    EntryIndex recomputed = 0;  // end of a part of backward that recomputes forward; 0: none
  };

  uint64_t Bytes(uint32_t a) const { return history_.allocations.requested[a]; }
  bool Never(uint32_t a) const { return lives_.dead[a] >= entry_count_; }
  const StackFacts& Facts(uint32_t a) const {
    return stacks_.facts[history_.allocations.stack[a].value];
  }
  // Sets the category. Always returns true: the category is decided.
  bool Is(uint32_t a, Category category, uint8_t rule) {
    labels_.category[a] = category;
    labels_.rule[a] = rule;
    return true;
  }
  void Retag(uint32_t a, EntryIndex at, Category category, uint8_t rule) {
    if (at < entry_count_ && at < lives_.dead[a] && at > lives_.born[a]) {
      labels_.retags.push_back({at, a, category, rule});
    }
  }

  // Counts the sizes of possible parameters: blocks older than the first step that are never freed.
  void FindStaticSizes() {
    const EntryIndex first = timeline_.steps.empty() ? 0 : timeline_.steps.front().begin;
    for (uint32_t a = 0; a < count_ && (a < history_.older || lives_.born[a] < first); ++a) {
      if (Never(a)) ++static_sizes_[Bytes(a)];
    }
  }
  bool HasStaticSize(uint32_t a) const { return static_sizes_.contains(Bytes(a)); }

  void CountWorkspaces() {
    for (uint32_t a = 0; a < count_; ++a) {
      if (Bytes(a) == kHopperWorkspace && Never(a)) ++hopper_workspaces_;
      if (Bytes(a) == kBlasWorkspace) any_blas_workspace_ = true;
    }
  }
  bool IsWorkspace(uint32_t a) const {
    if (!Never(a)) return false;
    return Bytes(a) == kBlasWorkspace ||
           (Bytes(a) == kHopperWorkspace && !any_blas_workspace_ &&
            hopper_workspaces_ <= kMostWorkspaces && history_.allocations.stack[a].value == 0);
  }

  // Finds caches of keys and values. A cache has a block for each layer. A block that is freed
  // before the same stack has allocated two more blocks is a temporary.
  void FindCaches() {
    base::HashMap<uint32_t, std::vector<uint32_t>> of_stack;
    for (uint32_t a = history_.older; a < count_; ++a) {
      if (Facts(a).kv_cache) of_stack[history_.allocations.stack[a].value].push_back(a);
    }
    for (const auto& [stack, rows] : of_stack) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const EntryIndex dead = lives_.dead[rows[i]];
        if (dead >= entry_count_ || (i + 2 < rows.size() && lives_.born[rows[i + 2]] < dead)) {
          caches_.insert(rows[i]);
        }
      }
    }
  }

  // Whether keys and values are kept only for backward, as in training with the cache switched on.
  bool SavedForBackward(uint32_t a) const {
    const size_t next = now_.pass + 1;
    return next < passes_.size() && passes_[now_.pass].pass == Pass::kForward &&
           passes_[next].pass == Pass::kBackward && lives_.dead[a] >= passes_[now_.pass].end &&
           lives_.dead[a] < passes_[next].end;
  }

  // Sets the category if the stack or the growth of a cache determines it, whatever the phase.
  bool Marked(uint32_t a) {
    const StackFacts& facts = Facts(a);
    if (facts.workspace) return Is(a, Category::kWorkspace, kStackWorkspace);
    if (facts.communication) return Is(a, Category::kCommunication, kStackCommunication);
    if (facts.kv_cache && (a < history_.older || (caches_.contains(a) && !SavedForBackward(a)))) {
      return Is(a, Category::kKvCache, kStackKvCache);
    }
    if (!grows_.empty() &&
        (grows_[a] == Grows::kYes || (grows_[a] == Grows::kFrom && a < history_.older))) {
      return Is(a, Category::kKvCache, kLifeKvCache);
    }
    if (facts.replica) return Is(a, Category::kParameter, kStackReplica);
    if (facts.gradients) return Is(a, Category::kGradient, kStackFlatGradients);
    return false;
  }

  // Categorizes a block older than the recording. Returns false if the block is live over several
  // steps, and is classified by sizes later (persistent_blocks.h).
  bool Older(uint32_t a) {
    if (Marked(a)) return true;
    const StackFacts& facts = Facts(a);
    if (IsWorkspace(a)) return Is(a, Category::kWorkspace, kSizeWorkspace);
    switch (facts.phase) {
      case Phase::kOptimizer:
        return Is(a, Category::kOptimizerState, kStackOptimizer);
      case Phase::kBackward:
        return Is(a, Category::kGradient, kStackBackward);
      case Phase::kSetup:
      case Phase::kLoad:
        if (facts.loads_state) return Is(a, Category::kOptimizerState, kStackOptimizerSetup);
        if (facts.buffer) return Is(a, Category::kBuffer, kStackBuffer);
        return Never(a) && Is(a, Category::kParameter, kStackSetup);
      case Phase::kData:
        return Is(a, Category::kInput, kStackData);
      case Phase::kForward:
      case Phase::kLoss:
      case Phase::kEval:
      case Phase::kGeneration:
        return Never(a) ? Is(a, Category::kTemporary, kLifeOutput) : OlderFreed(a);
      default:
        return !Never(a) && OlderFreed(a);
    }
  }
  bool OlderFreed(uint32_t a) {
    switch (timeline_.phase[lives_.dead[a]]) {
      case Phase::kOptimizer:
        return Is(a, Category::kOptimizerState, kOldState);
      case Phase::kBackward:
        return Is(a, Category::kActivation, kOldActivation);
      default:
        if (HasStaticSize(a)) return Is(a, Category::kGradient, kOldGradient);
        return Is(a, Category::kTemporary, kOldTemporary);
    }
  }

  bool Young(uint32_t a) {
    if (Marked(a)) return true;
    const StackFacts& facts = Facts(a);
    const Phase phase = timeline_.phase[lives_.born[a]];
    if ((phase == Phase::kForward || phase == Phase::kLoss || phase == Phase::kBackward ||
         phase == Phase::kGeneration) &&
        IsWorkspace(a)) {
      return Is(a, Category::kWorkspace, kSizeWorkspace);
    }
    switch (phase) {
      case Phase::kData:
        if (now_.before_steps && Never(a) && facts.phase != Phase::kData) return false;
        return Is(a, Category::kInput, facts.phase == Phase::kData ? kStackData : kOrderData);
      case Phase::kForward:
      case Phase::kLoss:
      case Phase::kEval:
      case Phase::kGeneration:
        return BornInForward(a);
      case Phase::kBackward:
        return BornInBackward(a, facts);
      case Phase::kOptimizer:
      case Phase::kZeroGrad:
        return BornInOptimizer(a, facts);
      case Phase::kSetup:
      case Phase::kLoad:
        if (facts.loads_state) return Is(a, Category::kOptimizerState, kStackOptimizerSetup);
        if (!Never(a) && !MovedAway(a)) return Is(a, Category::kTemporary, kLifeTemporary);
        if (facts.buffer) return Is(a, Category::kBuffer, kStackBuffer);
        if (facts.captured) return Is(a, Category::kTemporary, kStackCaptured);
        if (facts.phase == Phase::kSetup) return Is(a, Category::kParameter, kStackSetup);
        return false;
      default:
        if (!Never(a)) return Is(a, Category::kTemporary, kLifeTemporary);
        return !now_.before_steps && Is(a, Category::kUnknown, kStatedByProducer);
    }
  }

  // Whether the block belongs to a layer that is moved to the GPU, used there and moved back. (A
  // temporary of the move itself is freed before two more allocations are made.)
  bool MovedAway(uint32_t a) const {
    return Facts(a).moved && a + 2 < count_ && lives_.dead[a] > lives_.born[a + 2];
  }

  bool BornInForward(uint32_t a) {
    if (now_.pass >= passes_.size()) return Is(a, Category::kTemporary, kLifeTemporary);
    const PassRange& pass = passes_[now_.pass];
    const EntryIndex dead = lives_.dead[a];
    if (dead < pass.end) return Is(a, Category::kTemporary, kLifeForwardTemporary);
    const bool backward_follows =
        now_.pass + 1 < passes_.size() && passes_[now_.pass + 1].pass == Pass::kBackward;
    if (!backward_follows) {
      pending_.push_back(a);
      return true;
    }
    const EntryIndex end = passes_[now_.pass + 1].end;
    if (dead < end) return Is(a, Category::kActivation, kLifeActivation);
    if (end == entry_count_) return Is(a, Category::kActivation, kLifeGraph);
    Is(a, Category::kActivation, kLifeActivationHeld);
    Retag(a, end, Category::kTemporary, kLifeActivationHeld);
    return true;
  }
  // Called at the end of a forward pass that no backward pass follows. Categorizes its live blocks,
  // which are a graph for a later backward pass, or outputs.
  void EndPass(size_t) {
    const bool graph = pending_.size() >= kGraphBlocks;
    leaves_graph_ |= graph;
    for (const uint32_t a : pending_) {
      graph ? Is(a, Category::kActivation, kLifeGraph) : Is(a, Category::kTemporary, kLifeOutput);
    }
    pending_.clear();
  }

  bool BornInBackward(uint32_t a, const StackFacts& facts) {
    if (facts.accumulates) {
      CountGradient(a);
      return Is(a, Category::kGradient, kStackAccumulateGrad);
    }
    const EntryIndex dead = lives_.dead[a];
    const EntryIndex end = now_.pass < passes_.size() ? passes_[now_.pass].end : entry_count_;
    if (dead >= end) {
      // If the recording ends within backward, live blocks can be anything, so their sizes decide.
      // A live scalar is the loss or its gradient.
      if ((end == entry_count_ && !HasStaticSize(a)) || Bytes(a) <= kScalar) {
        return Is(a, Category::kAutogradDetail, kLifeBackwardTemporary);
      }
      Is(a, Category::kAutogradDetail, kLifeBackwardTemporary);
      // The last blocks of a recording do not count: they may be temporaries not freed
      // yet.
      if (end < entry_count_ || a + kUnsure < count_) CountGradient(a);
      // The block becomes a gradient once its autograd node has run. This is assumed to happen
      // before the next allocation.
      const EntryIndex at = a + 1 < count_ ? lives_.born[a + 1] : lives_.born[a] + 1;
      Retag(a, at, Category::kGradient, end == entry_count_ ? kSizeGradient : kLifeGradient);
      return true;
    }
    if (facts.recomputed || now_.recomputed != 0) {
      const bool kept = now_.recomputed != 0
                            ? dead >= now_.recomputed
                            : !stacks_.facts[recording_.entries.stack[dead].value].recomputed;
      return kept ? Is(a, Category::kActivation, kLifeRecomputed)
                  : Is(a, Category::kTemporary, kLifeRecomputedTemporary);
    }
    return Is(a, Category::kAutogradDetail, kLifeBackwardTemporary);
  }
  void CountGradient(uint32_t a) {
    first_gradient_ = std::min(first_gradient_, now_.pass);
    if (now_.step != gradient_step_) {
      if (step_gradients_.size() > gradients_.size()) gradients_ = std::move(step_gradients_);
      step_gradients_.clear();
      gradient_step_ = now_.step;
    }
    step_gradients_.push_back(Bytes(a));
  }

  // Used if the recording ends soon after the apparent end of backward. Decides to which pass the
  // last allocations belong. If there are few, they are taken for backward. More allocations are an
  // optimizer's if at least half of their bytes are in blocks with the sizes of gradients.
  enum class Tail : uint8_t { kOptimizer, kBackward, kOther };
  Tail LastPass(uint32_t first) {
    if (now_.pass >= passes_.size()) return Tail::kOptimizer;
    const PassRange& pass = passes_[now_.pass];
    if (pass.end < entry_count_ || timeline_.rule[pass.begin] != kPhaseAfterGradients)
      return Tail::kOptimizer;
    if (!tail_) {
      const base::HashSet<uint64_t> sizes(step_gradients_.begin(), step_gradients_.end());
      uint64_t sized = 0, all = 0;
      for (uint32_t a = first; a < count_; ++a) {
        all += Bytes(a);
        if (sizes.contains(Bytes(a))) sized += Bytes(a);
      }
      tail_ = count_ - first < kOptimizerRequests ? Tail::kBackward
              : sized * 2 >= all                  ? Tail::kOptimizer
                                                  : Tail::kOther;
    }
    return *tail_;
  }

  // Checks a pass that only lifetimes identify as an optimizer's. It must follow a backward pass.
  // The bytes that it leaves allocated must be in proportion to the step's gradients. If the step
  // allocated no gradients, they may be older than the recording.
  bool HasGradients() {
    if (now_.pass >= passes_.size() || now_.pass == 0) return true;
    if (now_.pass == looked_at_) return has_gradients_;
    looked_at_ = now_.pass;
    const PassRange& pass = passes_[now_.pass];
    const PassRange& before = passes_[now_.pass - 1];
    has_gradients_ = true;
    if (timeline_.rule[pass.begin] != kPhaseAfterGradients) return true;
    if (before.pass == Pass::kForward) return has_gradients_ = false;
    // The pass `before` may be cut off.
    if (before.pass != Pass::kBackward || now_.pass == 1) return true;
    uint64_t gradients = 0, kept = 0;
    if (gradient_step_ == now_.step)
      for (const uint64_t bytes : step_gradients_) gradients += bytes;
    const auto first =
        std::lower_bound(lives_.born.begin() + history_.older, lives_.born.end(), pass.begin);
    for (auto a = static_cast<uint32_t>(first - lives_.born.begin());
         a < count_ && lives_.born[a] < pass.end; ++a)
      if (lives_.dead[a] >= pass.end) kept += Bytes(a);
    if (gradients == 0) return has_gradients_ = history_.older > 0 || kept == 0;
    return has_gradients_ = kept <= kMaxDifferences * gradients;
  }

  bool BornInOptimizer(uint32_t a, const StackFacts& facts) {
    const EntryIndex end = now_.pass < passes_.size() ? passes_[now_.pass].end : entry_count_;
    const Tail tail = LastPass(a);
    if (tail == Tail::kBackward) return BornInBackward(a, facts);
    if (tail == Tail::kOther) return Is(a, Category::kTemporary, kLifeOptimizerTemporary);
    if (lives_.dead[a] < end) return Is(a, Category::kTemporary, kLifeOptimizerTemporary);
    if (end == entry_count_ && !HasStaticSize(a) && Bytes(a) > kScalar) {
      return Is(a, Category::kTemporary, kLifeOptimizerTemporary);
    }
    if (!HasGradients()) return Is(a, Category::kActivation, kLifeGraph);
    born_states_ = true;
    return Is(a, Category::kOptimizerState, kLifeState);
  }

  // An optimizer that allocates its state anew in every step (m = b * m + ...) keeps the old state
  // for some time. Until it is freed, the new state counts as a temporary. The first new block of a
  // size replaces the first freed block of that size. The first step has no old state: its new
  // state stops being a temporary when the last live temporary of its size is freed.
  void PromoteStates() {
    base::HashMap<uint64_t, std::vector<uint32_t>> born, gone;
    struct Live {
      uint32_t count = 0;
      EntryIndex last = 0;  // when the last of these blocks is freed
    };
    base::HashMap<uint64_t, Live> temporaries;
    std::vector<EntryIndex> until(born_states_ ? count_ : 0, 0);
    if (!born_states_) return;
    const auto settle = [&] {
      for (auto& [bytes, states] : born) {
        const auto it = gone.find(bytes);
        const bool replaces = it != gone.end() && it->second.size() == states.size();
        for (size_t i = 0; i < states.size(); ++i) {
          const uint32_t a = states[i];
          const EntryIndex at = replaces ? lives_.dead[it->second[i]] : until[a];
          if (at <= lives_.born[a]) continue;
          Is(a, Category::kTemporary, kLifeStateReplaces);
          Retag(a, at, Category::kOptimizerState, kLifeStateReplaces);
        }
      }
      born.clear(), gone.clear(), temporaries.clear();
    };
    for (const PassRange& pass : passes_) {
      if (pass.pass != Pass::kOptimizer) continue;
      for (EntryIndex i = pass.begin; i < pass.end; ++i) {
        const uint32_t a = history_.allocation_of_entry[i];
        if (a >= count_) continue;
        const uint64_t bytes = Bytes(a);
        if (recording_.entries.action[i] == Action::kAlloc) {
          Live& live = temporaries[bytes];
          if (labels_.rule[a] == kLifeOptimizerTemporary) {
            ++live.count;
            live.last = std::max(live.last, lives_.dead[a]);
          } else if (labels_.rule[a] == kLifeState) {
            born[bytes].push_back(a);
            if (live.count >= 2) until[a] = live.last;
          }
        } else if (lives_.dead[a] == i) {
          if (labels_.category[a] == Category::kOptimizerState) gone[bytes].push_back(a);
          if (labels_.rule[a] == kLifeOptimizerTemporary && --temporaries[bytes].count == 0) {
            temporaries[bytes].last = 0;
          }
        }
      }
      settle();
    }
  }

  // Whether the blocks that the forward pass saved are all freed, except for a few results to which
  // variables refer.
  bool LetsAllGo(size_t backward) const {
    if (backward == 0 || passes_[backward - 1].pass != Pass::kForward) return false;
    // Frees that determined the phases are no independent evidence of a complete pass.
    if (timeline_.rule[passes_[backward].begin] == kPhaseBackwardShrinks) return false;
    const PassRange& forward = passes_[backward - 1];
    uint32_t saved = 0, left = 0;
    for (uint32_t a = history_.older; a < count_ && lives_.born[a] < forward.end; ++a) {
      if (lives_.born[a] < forward.begin || lives_.dead[a] < forward.end) continue;
      ++saved;
      left += Never(a);
    }
    return saved >= kGraphBlocks && left <= kResults;
  }

  // A backward pass is complete if another pass follows it, or if everything that forward saved is
  // freed. If the pass that follows looks like an optimizer but ends with the recording, it may
  // still be backward, and is taken for backward if it has few allocations.
  Backward Seen(size_t backward) const {
    if (passes_[backward].end == entry_count_) {
      return LetsAllGo(backward) ? Backward::kWhole : Backward::kCut;
    }
    if (backward + 1 >= passes_.size()) return Backward::kWhole;
    const PassRange& next = passes_[backward + 1];
    if (next.end < entry_count_ || timeline_.rule[next.begin] != kPhaseAfterGradients)
      return Backward::kWhole;
    return std::count(recording_.entries.action.begin() + next.begin,
                      recording_.entries.action.begin() + next.end,
                      Action::kAlloc) >= kOptimizerRequests
               ? Backward::kPerhapsWhole
               : Backward::kCut;
  }

  // Returns, for each size, the most blocks that one backward pass allocates and frees again.
  SizeCounts Passing() const {
    SizeCounts most, of_pass;
    size_t pass = 0;
    for (uint32_t a = history_.older; a < count_; ++a) {
      if (labels_.rule[a] != kLifeBackwardTemporary || Bytes(a) <= kScalar) continue;
      for (; pass < passes_.size() && passes_[pass].end <= lives_.born[a]; ++pass) of_pass.clear();
      uint32_t& highest = most[Bytes(a)];
      highest = std::max(highest, ++of_pass[Bytes(a)]);
    }
    return most;
  }

  // Whether the recording contains the optimizer's first step: more bytes of states are allocated
  // than freed. (An optimizer that allocates its state anew in every step also frees as many
  // bytes.) The states of an incomplete pass are ignored, because they may be temporaries.
  bool MakesStates(const SizeCounts& gradients) const {
    uint64_t trained = 0, come = 0, go = 0;
    for (const auto& [bytes, count] : gradients) trained += bytes * count;
    EntryIndex end = entry_count_;
    if (!passes_.empty() && passes_.back().end == entry_count_) end = passes_.back().begin;
    for (uint32_t a = 0; a < count_; ++a) {
      if (labels_.category[a] != Category::kOptimizerState) continue;
      if (a >= history_.older && lives_.born[a] < end) come += Bytes(a);
      if (!Never(a)) go += Bytes(a);
    }
    return trained > 0 && come > go && (come - go) * 2 > trained;
  }

  // Whether anything other than lifetimes identifies a forward pass.
  bool KnowsForward() const {
    return !grows_.empty() ||
           std::any_of(passes_.begin(), passes_.end(), [&](const PassRange& pass) {
             return timeline_.rule[pass.begin] != kPhaseForwardGrows;
           });
  }

  void ClassifyAllKept(std::vector<Persistent>& kept) {
    if (step_gradients_.size() > gradients_.size()) gradients_ = std::move(step_gradients_);
    Training training;
    SizeCounts& gradients = training.gradients;
    for (const uint64_t bytes : gradients_) ++gradients[bytes];
    // If all blocks taken for gradients are scalars, they are losses that the program keeps.
    if (std::all_of(gradients_.begin(), gradients_.end(),
                    [](uint64_t bytes) { return bytes <= kScalar; })) {
      gradients.clear();
    }
    for (uint32_t a = 0; a < count_; ++a) {
      const Category c = labels_.category[a];
      // Older states count even if they are freed later, because each belongs to a parameter.
      if ((Never(a) && c == Category::kParameter) ||
          (a < history_.older && c == Category::kOptimizerState)) {
        kept.push_back({.allocation = a,
                        .bytes = Bytes(a),
                        .older = a < history_.older,
                        .category = c,
                        .rule = labels_.rule[a]});
      }
    }
    training.passing = Passing();
    training.first_states = MakesStates(gradients);
    Backward& backward = training.backward;
    for (size_t p = 0; p < passes_.size() && backward != Backward::kWhole; ++p) {
      if (passes_[p].pass != Pass::kBackward) continue;
      backward = Seen(p);
      // If a complete backward pass allocated no gradients, a later, incomplete one allocates none
      // either: its live blocks are just not freed yet.
      if (backward == Backward::kWhole && first_gradient_ > p) gradients.clear();
    }
    training.inference = backward == Backward::kNone && !leaves_graph_ && KnowsForward();
    ClassifyPersistent(training, kept);
    SeparateGradientsFromStates(recording_, history_, timeline_, lives_, labels_, kept);
    for (const Persistent& k : kept) Is(k.allocation, k.category, k.rule);
  }

  const Recording& recording_;
  const History& history_;
  const Stacks& stacks_;
  const Timeline& timeline_;
  const Lives& lives_;
  const Recomputed& recomputed_;
  Labels& labels_;
  const EntryIndex entry_count_;
  const uint32_t count_;
  const std::vector<PassRange> passes_;
  Place now_;
  SizeCounts static_sizes_;
  uint32_t hopper_workspaces_ = 0;
  bool any_blas_workspace_ = false;
  bool born_states_ = false, leaves_graph_ = false;
  std::optional<Tail> tail_;
  size_t looked_at_ = SIZE_MAX;  // the pass for which has_gradients_ was computed
  bool has_gradients_ = false;   // cached result
  std::vector<Grows> grows_;
  base::HashSet<uint32_t> caches_;
  std::vector<uint32_t> pending_;  // blocks of the current pass that are live at its end
  size_t gradient_step_ = 0;
  size_t first_gradient_ = SIZE_MAX;  // the first pass that allocates a gradient
  // The sizes of the gradients of the step that has the most gradients, and of the current step.
  std::vector<uint64_t> gradients_, step_gradients_;
};

}  // namespace

void Categorize(const Recording& recording, const History& history, const Stacks& stacks,
                const Timeline& timeline, const Lives& lives, const Recomputed& recomputed,
                Labels& labels) {
  Categorizer(recording, history, stacks, timeline, lives, recomputed, labels).Run();
}

}  // namespace vramscope::inference
