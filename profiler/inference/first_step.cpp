#include "profiler/inference/first_step.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/allocator/rules.h"
#include "profiler/base/hash_map.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using allocator::CachingAllocator;
using recording::Action;
using recording::History;
using recording::Recording;
using trace::Category;

// Open blocks are gradients or states; it is not known which. The replay must place this fraction
// of their bytes at the recorded addresses.
constexpr double kAgrees = 0.8;
// The workspace of a library is allocated before one of a pass's first allocations. At most this
// many of these first allocations are tried.
constexpr uint32_t kWorkspacePlaces = 64;
constexpr uint64_t kMostCells = uint64_t{1} << 22;  // limit for one alignment table
constexpr uint32_t kMostParts = 4;  // limit for the parts of a gradient that is computed as a sum
constexpr size_t kMostOthers = 24;
constexpr size_t kStepsTried = 2;
constexpr uint64_t kMostRequests = 4'000'000;     // limit for all replays of a step together
constexpr uint64_t kHighest = uint64_t{1} << 62;  // larger addresses and sizes are taken for damage

// A driver that first hands out the segments that exist when the recording begins, at their
// recorded addresses. It places further segments behind them.
class KnownSegments final : public allocator::Driver {
 public:
  void Add(const allocator::Segment& segment) {
    free_.push_back(segment);
    behind_ = std::max(behind_, segment.address + segment.bytes);
  }
  std::optional<uint64_t> Allocate(const allocator::Segment& wanted) override {
    for (size_t i = 0; i < free_.size(); ++i) {
      const allocator::Segment& s = free_[i];
      if (s.bytes != wanted.bytes || s.pool != wanted.pool || s.stream != wanted.stream) continue;
      const uint64_t address = s.address;
      free_.erase(free_.begin() + static_cast<ptrdiff_t>(i));
      return address;
    }
    const uint64_t address = allocator::RoundUp(behind_, allocator::kSegmentAlignment);
    behind_ = address + wanted.bytes;
    return address;
  }
  bool Map(const allocator::Segment&, uint64_t, uint64_t) override { return false; }
  void SortByAddress() {
    std::sort(free_.begin(), free_.end(),
              [](const auto& x, const auto& y) { return x.address < y.address; });
  }

 private:
  std::vector<allocator::Segment> free_;
  uint64_t behind_ = 0;
};

struct Passage {  // positions within one step
  EntryIndex begin = 0, backward = 0, backward_end = 0, optimizer = 0, end = 0;
};

class FirstStep {
 public:
  FirstStep(const Recording& r, const History& h, const Timeline& t, const Lives& l,
            const Labels& labels, std::vector<Persistent>& persistent)
      : recording_(r),
        history_(h),
        timeline_(t),
        lives_(l),
        labels_(labels),
        persistent_(persistent),
        entry_count_(r.entries.size()) {}

  void Run() {
    if (!Collect() || !StartState()) return;
    const auto conf = run::ParseAllocConf(recording_.alloc_conf);
    if (conf.ok()) settings_.conf = *conf;
    settings_.conf.garbage_collection_threshold = 0;
    settings_.conf.memory_fraction = 0;
    for (const Passage& step : WholeSteps()) {
      ReadStep(step);
      Search();
    }
    if (static_cast<double>(best_.agreeing) >= kAgrees * static_cast<double>(asked_)) TakeItsWord();
  }

 private:
  uint64_t Bytes(uint32_t a) const { return history_.allocations.requested[a]; }
  bool Asks(EntryIndex i) const {
    return recording_.entries.action[i] == Action::kAlloc &&
           history_.allocation_of_entry[i] < lives_.born.size();
  }

  // Collects the open blocks (gradients or states) by address, and counts them by size.
  bool Collect() {
    for (uint32_t k = 0; k < persistent_.size(); ++k) {
      const Persistent& persistent = persistent_[k];
      if (!persistent.older) continue;
      if (persistent.rule == kPersistentGradient) {
        ++gradients_[persistent.bytes];
        ++parameters_;
      } else if (persistent.rule != kPersistentState) {
        continue;
      } else if (persistent.bytes <= kScalar) {
        ++counters_;
        moving_.insert(persistent.allocation);
        continue;
      }
      open_[history_.allocations.address[persistent.allocation]] = k;
      moving_.insert(persistent.allocation);
      asked_ += persistent.bytes;
    }
    if (parameters_ == 0) return false;
    // ClassifyPersistent assumes the same number of blocks for each parameter.
    states_ = static_cast<uint32_t>(open_.size() / parameters_) - 1;
    return states_ > 0;
  }

  // Sets up segments that contain older blocks which are never freed, such as parameters and
  // buffers. Other segments are created on demand.
  bool StartState() {
    if (history_.start_segments.empty()) return false;
    std::vector<uint32_t> base;
    for (uint32_t a = 0; a < history_.older; ++a) {
      if (labels_.category[a] == Category::kWorkspace) {
        workspaces_[history_.allocations.address[a]] = Bytes(a);
      } else if (lives_.dead[a] >= entry_count_ && !moving_.contains(a)) {
        base.push_back(a);
      }
    }
    std::sort(base.begin(), base.end(), [&](uint32_t x, uint32_t y) {
      return history_.allocations.address[x] < history_.allocations.address[y];
    });
    size_t next = 0;
    uint64_t end = 0;
    for (const recording::SegmentState& s : history_.start_segments) {
      if (s.expandable || s.mempool != 0) return false;
      if (s.address < end || s.bytes == 0 || s.address > kHighest || s.bytes > kHighest) {
        return false;  // damaged
      }
      end = s.address + s.bytes;
      const allocator::Segment segment{
          .address = s.address, .bytes = s.bytes, .pool = s.pool, .stream = s.stream};
      CachingAllocator::SnapshotSegment state{.segment = segment, .blocks = {}};
      uint64_t at = s.address;
      const auto add = [&](uint64_t bytes, uint64_t requested) {
        state.blocks.push_back({.block = {.address = at,
                                          .bytes_requested = requested,
                                          .bytes_rounded = bytes,
                                          .pool = s.pool,
                                          .stream = s.stream},
                                .live = requested > 0});
        at += bytes;
      };
      for (; next < base.size(); ++next) {
        const uint32_t a = base[next];
        const uint64_t address = history_.allocations.address[a],
                       bytes = history_.allocations.bytes[a];
        if (address >= s.address + s.bytes) break;
        if (address < at || bytes == 0 || bytes > s.address + s.bytes - address) continue;
        if (address > at) add(address - at, 0);
        add(bytes, Bytes(a));
      }
      if (state.blocks.empty()) {
        known_.Add(segment);
        continue;
      }
      if (at < s.address + s.bytes) add(s.address + s.bytes - at, 0);
      start_.push_back(std::move(state));
    }
    known_.SortByAddress();
    return !start_.empty();
  }

  std::vector<Passage> WholeSteps() const {
    const std::vector<PassRange> passes = Passes(timeline_);
    std::vector<Passage> whole;
    for (const Labels::Step& step : timeline_.steps) {
      Passage p{.begin = step.begin, .end = step.end};
      for (const PassRange& pass : passes) {
        if (pass.begin < step.begin || pass.begin >= step.end) continue;
        if (pass.pass == Pass::kBackward && p.backward_end == 0) {
          p.backward = pass.begin, p.backward_end = pass.end;
        }
        // Keeps the last optimizer pass, which follows all micro-batches.
        if (pass.pass == Pass::kOptimizer && p.backward_end > 0) p.optimizer = pass.begin;
      }
      if (p.backward_end == 0) continue;
      if (p.optimizer == 0) p.optimizer = p.end;
      whole.push_back(p);
      if (whole.size() == kStepsTried) break;
    }
    return whole;
  }

  void ReadStep(const Passage& step) {
    step_ = step;
    requests_.clear();
    for (EntryIndex i = step.begin; i < step.end; ++i) {
      if (Asks(i)) requests_.push_back(i);
    }
    OrderOfParameters();
    ChooseGradients();
  }

  // Finds the order of the parameters from the optimizer's temporaries: an optimizer allocates one
  // or more for each parameter in turn. If there are none, ChooseGradients sets the order.
  void OrderOfParameters() {
    order_.clear();
    std::vector<uint64_t> sizes;
    for (const EntryIndex i : requests_) {
      const uint64_t bytes = Bytes(history_.allocation_of_entry[i]);
      if (i >= step_.optimizer && gradients_.contains(bytes)) sizes.push_back(bytes);
    }
    for (const size_t each : {size_t{1}, sizes.size() / parameters_}) {
      if (each == 0 || sizes.size() < each * parameters_) continue;
      SizeCounts left = gradients_;
      bool all = true;
      for (size_t i = 0; i < parameters_ && all; ++i) all = left[sizes[i * each]]-- > 0;
      if (!all) continue;
      for (size_t i = 0; i < parameters_; ++i) order_.push_back(sizes[i * each]);
      return;
    }
  }

  // Finds the blocks that were gradients in the first step. In a later step, backward adds a new
  // gradient to the existing one, and the new gradient's block is the last that its autograd node
  // frees. In the first step, this block was not freed: it became the gradient.
  void ChooseGradients() {
    stays_.clear();
    std::vector<uint32_t> all, rows;
    base::HashMap<uint64_t, uint32_t> of_size, last;
    for (const EntryIndex i : requests_) {
      const uint32_t a = history_.allocation_of_entry[i];
      const uint64_t bytes = Bytes(a);
      if (i < step_.backward || i >= step_.backward_end || !gradients_.contains(bytes)) continue;
      all.push_back(a);
      ++of_size[bytes];
      uint32_t& latest = last.try_emplace(bytes, a).first->second;
      if (lives_.dead[a] >= lives_.dead[latest]) latest = a;
    }
    // If a size has as many blocks as gradients, all these blocks are gradients. If a gradient is
    // the sum of several parts (as for an embedding that is used twice), the part that is freed
    // last is the gradient, because the other parts are added to it.
    for (const uint32_t a : all) {
      const uint64_t bytes = Bytes(a);
      const bool parts = gradients_[bytes] == 1 && of_size[bytes] <= kMostParts;
      if (parts ? last[bytes] == a : of_size[bytes] <= gradients_[bytes]) stays_.insert(a);
      if (!parts && LetGoLast(a)) rows.push_back(a);
    }
    SizeCounts left = gradients_;
    for (const uint32_t a : stays_) --left[Bytes(a)];
    // A node may allocate the gradients of weight and bias in either order, so large and small
    // blocks are aligned separately.
    for (const bool large : {true, false}) {
      std::vector<uint64_t> expected;
      std::vector<uint32_t> of_pool;
      const auto belongs = [&](uint64_t bytes) {
        return (allocator::PoolOf(bytes) == trace::Pool::kLarge) == large;
      };
      std::copy_if(order_.rbegin(), order_.rend(), std::back_inserter(expected), belongs);
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(of_pool),
                   [&](uint32_t a) { return belongs(Bytes(a)); });
      for (const uint32_t a : Align(expected, of_pool)) {
        uint32_t& wanted = left[Bytes(a)];
        if (wanted > 0 && stays_.insert(a).second) --wanted;
      }
    }
    for (const std::vector<uint32_t>& still : {rows, all}) {
      for (size_t i = still.size(); i-- > 0;) {
        uint32_t& wanted = left[Bytes(still[i])];
        if (wanted > 0 && stays_.insert(still[i]).second) --wanted;
      }
    }
    // If only one parameter has a size, any block of this size may be its gradient.
    others_.clear();
    for (const uint32_t a : all) {
      if (gradients_[Bytes(a)] == 1 && !stays_.contains(a)) others_.push_back(a);
    }
    if (!order_.empty()) return;
    // Gradients are ordered by when they are complete; a sum is complete with its last part.
    base::HashSet<uint64_t> whole;
    for (size_t i = all.size(); i-- > 0;) {
      const uint64_t bytes = Bytes(all[i]);
      if (gradients_[bytes] == 1 ? whole.insert(bytes).second : stays_.contains(all[i])) {
        order_.push_back(bytes);
      }
    }
  }
  // Whether all blocks that are freed between the free of `a` and the next allocation have the
  // sizes of parameters.
  bool LetGoLast(uint32_t a) const {
    const EntryIndex dead = lives_.dead[a];
    if (dead >= step_.backward_end) return false;
    for (EntryIndex i = dead + 1;
         i < entry_count_ && recording_.entries.action[i] != Action::kAlloc; ++i) {
      const uint32_t other = history_.allocation_of_entry[i];
      if (other < lives_.born.size() && lives_.dead[other] == i &&
          !gradients_.contains(Bytes(other))) {
        return false;
      }
    }
    return true;
  }
  // Rates how likely `a` is a gradient: the earlier it is freed, the likelier.
  uint32_t Likely(uint32_t a) const {
    constexpr uint32_t kLongest = 60, kMost = 64;
    const auto requests = static_cast<uint32_t>(
        std::lower_bound(lives_.born.begin() + a, lives_.born.end(), lives_.dead[a]) -
        lives_.born.begin() - a);
    return kMost - std::min(requests, kLongest);
  }
  // Returns the rows in the most likely common subsequence of sizes, last row first.
  std::vector<uint32_t> Align(const std::vector<uint64_t>& expected,
                              const std::vector<uint32_t>& rows) const {
    const size_t n = expected.size(), m = rows.size();
    if (n == 0 || n * m > kMostCells) return {};
    std::vector<uint32_t> best((n + 1) * (m + 1), 0);
    const auto at = [&](size_t i, size_t j) -> uint32_t& { return best[i * (m + 1) + j]; };
    std::vector<uint32_t> likely(m);
    for (size_t j = 0; j < m; ++j) likely[j] = Likely(rows[j]);
    for (size_t i = 1; i <= n; ++i) {
      for (size_t j = 1; j <= m; ++j) {
        at(i, j) = std::max(at(i - 1, j), at(i, j - 1));
        if (expected[i - 1] == Bytes(rows[j - 1])) {
          at(i, j) = std::max(at(i, j), at(i - 1, j - 1) + likely[j - 1]);
        }
      }
    }
    std::vector<uint32_t> found;
    for (size_t i = n, j = m; i > 0 && j > 0;) {
      if (expected[i - 1] == Bytes(rows[j - 1]) && at(i, j) == at(i - 1, j - 1) + likely[j - 1]) {
        found.push_back(rows[j - 1]);
        --i, --j;
      } else if (at(i - 1, j) > at(i, j - 1)) {
        --i;
      } else {
        --j;
      }
    }
    return found;
  }

  // The step's gradients and states that the replay placed at recorded addresses.
  struct Landed {
    uint64_t agreeing = 0;  // bytes of these blocks
    bool workspaces = true;
    std::vector<std::pair<uint32_t, Category>> where;  // indexes in persistent_
  };
  // `workspace`: the entries before which a library is assumed to allocate its workspace.
  Landed Replay(const std::vector<EntryIndex>& workspace) const {
    KnownSegments driver = known_;
    allocator::Settings settings = settings_;
    settings.driver = &driver;
    CachingAllocator model(settings, nullptr);
    Landed landed;
    if (!model.Restore(start_).ok()) return landed;
    base::HashMap<uint32_t, uint64_t> live;  // blocks made in the replay -> address
    base::HashSet<uint64_t> held;            // addresses of workspaces
    const auto land = [&](uint64_t address, uint64_t bytes, Category category) {
      const auto it = open_.find(address);
      if (it == open_.end() || persistent_[it->second].bytes != bytes) return;
      landed.agreeing += bytes;
      landed.where.emplace_back(it->second, category);
    };
    const auto make_states = [&] {
      for (const uint64_t bytes : order_) {
        for (uint32_t s = 0; s < states_ + (counters_ >= parameters_ ? 1 : 0); ++s) {
          const bool counter = counters_ >= parameters_ && s == 0;
          const auto block = model.Malloc(counter ? 4 : bytes, 0);
          if (block.ok() && !counter) land(block->address, bytes, Category::kOptimizerState);
        }
      }
    };
    bool states = false;
    for (EntryIndex i = step_.begin; i < step_.end; ++i) {
      const uint32_t a = history_.allocation_of_entry[i];
      if (a >= lives_.born.size()) continue;
      if (recording_.entries.action[i] == Action::kAlloc) {
        if (i >= step_.optimizer && !std::exchange(states, true)) make_states();
        if (std::find(workspace.begin(), workspace.end(), i) != workspace.end()) {
          const auto block = model.Malloc(workspaces_.begin()->second, 0);
          if (!block.ok() || !workspaces_.contains(block->address)) {
            landed.workspaces = false;
            return landed;
          }
        }
        const auto block = model.Malloc(Bytes(a), history_.allocations.stream[a]);
        if (!block.ok()) return landed;
        if (stays_.contains(a)) {
          land(block->address, Bytes(a), Category::kGradient);
        } else {
          live[a] = block->address;
        }
      } else if (lives_.dead[a] == i) {
        const auto it = live.find(a);
        if (it != live.end() && model.Free(it->second).ok()) live.erase(it);
      }
    }
    if (!states) make_states();
    return landed;
  }

  // Finds by trial where a library allocates its workspaces. Each thread allocates one: the thread
  // of forward before its first matrix product, and the thread of backward before the first matrix
  // product of backward.
  void Search() {
    if (requests_.empty()) return;
    std::vector<EntryIndex> workspace;
    Try(workspace);
    const size_t backward = static_cast<size_t>(
        std::lower_bound(requests_.begin(), requests_.end(), step_.backward) - requests_.begin());
    for (const size_t from : {size_t{0}, backward}) {
      if (workspaces_.size() <= workspace.size()) break;
      std::optional<EntryIndex> place;
      uint64_t most = 0;
      for (size_t i = from; i < requests_.size() && i < from + kWorkspacePlaces; ++i) {
        workspace.push_back(requests_[i]);
        const uint64_t agreeing = Try(workspace);
        workspace.pop_back();
        if (agreeing > most) most = agreeing, place = requests_[i];
      }
      if (place) workspace.push_back(*place);
    }
    if (others_.size() > kMostOthers) others_.resize(kMostOthers);
    for (const uint32_t a : others_) {
      const base::HashSet<uint32_t> stay = stays_;
      const uint64_t most = best_.agreeing;
      base::erase_if(stays_, [&](uint32_t b) { return Bytes(b) == Bytes(a); });
      stays_.insert(a);
      const uint64_t got = Try(workspace);
      if (got <= most) stays_ = stay;
    }
  }
  uint64_t Try(const std::vector<EntryIndex>& workspace) {
    run_ += requests_.size();
    if (run_ > kMostRequests) return 0;
    Landed landed = Replay(workspace);
    if (!landed.workspaces) return 0;
    const uint64_t agreeing = landed.agreeing;
    if (agreeing > best_.agreeing) best_ = std::move(landed);
    return agreeing;
  }

  // Applies the result of the replay. Blocks without a match share the remaining categories.
  void TakeItsWord() {
    SizeCounts left = gradients_;
    std::vector<bool> told(persistent_.size(), false);
    for (const auto& [k, category] : best_.where) {
      if (category == Category::kGradient) {
        uint32_t& count = left[persistent_[k].bytes];
        if (count == 0) continue;
        --count;
      }
      told[k] = true;
      persistent_[k].category = category;
      persistent_[k].rule = kPersistentFirstStep;
    }
    for (uint32_t k = 0; k < persistent_.size(); ++k) {
      if (told[k] || !persistent_[k].older || persistent_[k].bytes <= kScalar ||
          (persistent_[k].rule != kPersistentGradient && persistent_[k].rule != kPersistentState)) {
        continue;
      }
      uint32_t& count = left[persistent_[k].bytes];
      persistent_[k].category = count > 0 ? Category::kGradient : Category::kOptimizerState;
      persistent_[k].rule = count > 0 ? kPersistentGradient : kPersistentState;
      if (count > 0) --count;
    }
  }

  const Recording& recording_;
  const History& history_;
  const Timeline& timeline_;
  const Lives& lives_;
  const Labels& labels_;
  std::vector<Persistent>& persistent_;
  const EntryIndex entry_count_;

  base::HashMap<uint64_t, uint32_t> open_;  // open blocks: address -> index in persistent_
  base::HashSet<uint32_t> moving_;          // allocations made by the first step
  SizeCounts gradients_;
  uint32_t parameters_ = 0, states_ = 0, counters_ = 0;
  uint64_t asked_ = 0;                            // bytes of the open blocks
  base::HashMap<uint64_t, uint64_t> workspaces_;  // address -> bytes
  std::vector<CachingAllocator::SnapshotSegment> start_;
  KnownSegments known_;
  allocator::Settings settings_;

  uint64_t run_ = 0;  // allocations replayed so far

  // The following members describe the step that is replayed.
  Passage step_;
  std::vector<EntryIndex> requests_;
  std::vector<uint64_t> order_;    // sizes of the parameters, in the optimizer's order
  base::HashSet<uint32_t> stays_;  // allocations that became gradients in the first step
  std::vector<uint32_t> others_;   // each may be the gradient instead of a block in stays_
  Landed best_;
};

}  // namespace

void SeparateGradientsFromStates(const Recording& recording, const History& history,
                                 const Timeline& timeline, const Lives& lives, const Labels& labels,
                                 std::vector<Persistent>& persistent) {
  FirstStep(recording, history, timeline, lives, labels, persistent).Run();
}

}  // namespace vramscope::inference
