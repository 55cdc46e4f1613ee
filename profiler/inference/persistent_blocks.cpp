#include "profiler/inference/persistent_blocks.h"

#include <algorithm>
#include <array>

#include "profiler/inference/categories.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using trace::Category;

constexpr uint32_t kMostStates = 3;  // states for each parameter: Adam has two, AMSGrad three
// If backward was cut off after this many gradients, parameters without gradients count as frozen.
constexpr uint32_t kGradientsOfFrozen = 32;
constexpr uint64_t kLargestIntegers = uint64_t{64} << 20;

struct OfSize {
  uint32_t parameters = 0, states = 0, open = 0, open_older = 0;
  uint32_t next = 0;  // number of open blocks assigned so far
};

using OfSizes = base::HashMap<uint64_t, OfSize>;

// Returns the number of states that the optimizer keeps for each parameter. The sizes vote,
// weighted by their bytes.
uint32_t StatesOfEachParameter(const SizeCounts& gradients, const OfSizes& sizes) {
  std::array<uint64_t, kMostStates + 1> votes{};
  for (const auto& [bytes, count] : gradients) {
    const auto it = sizes.find(bytes);
    if (it == sizes.end() || bytes <= kScalar) continue;
    const OfSize& of = it->second;
    const uint32_t known = of.parameters + of.open + of.states;
    if (of.open_older + of.states == 0 || known < count) continue;
    const uint32_t beyond = (known - count) / count;
    votes[std::min(beyond, kMostStates)] += bytes * count;
  }
  return static_cast<uint32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

// Whether backward allocates about as many blocks of a size as there are parameters of this size.
// Existing gradients may be older than the recording.
bool Passes(const SizeCounts& passing, uint64_t bytes, uint32_t parameters) {
  const auto it = passing.find(bytes);
  return it != passing.end() && uint64_t{it->second} * 4 >= uint64_t{parameters} * 3;
}

// Whether the number of blocks of nearly every size is a multiple of `each`. If `passing` is given,
// considers only sizes that backward allocates, and requires one block of backward for every `each`
// blocks, that is, for each parameter.
bool AllComeIn(uint32_t each, const OfSizes& sizes, const SizeCounts* passing) {
  uint64_t multiples = 0, others = 0;
  for (const auto& [bytes, of] : sizes) {
    if (bytes <= kScalar || of.open_older == 0) continue;
    bool fits = of.open % each == 0;
    if (passing != nullptr) {
      if (!passing->contains(bytes)) continue;
      fits &= Passes(*passing, bytes, of.open / each);
    }
    (fits ? multiples : others) += bytes * of.open;
  }
  return multiples > 0 && others * 100 < multiples;
}

// Whether most bytes of open blocks are in sizes that backward allocates. (They are not if only
// adapters are trained.)
bool MostTrain(const Training& training, const OfSizes& sizes) {
  uint64_t all = 0, trained = 0;
  for (const auto& [bytes, of] : sizes) {
    all += bytes * of.open;
    const bool trains =
        training.gradients.contains(bytes) || Passes(training.passing, bytes, of.open / 2);
    if (trains) trained += bytes * of.open;
  }
  return trained * 2 >= all;
}

// Whether the number of blocks is the same multiple of the number of gradients for nearly every
// size. If the states have their category already, the two numbers must be equal: with twice as
// many blocks, only half of backward was recorded.
bool Fit(const SizeCounts& gradients, const OfSizes& sizes, bool states_known) {
  std::array<uint64_t, kMostStates + 2> votes{};
  uint64_t all = 0;
  for (const auto& [bytes, of] : sizes) {
    all += bytes * of.open;
    const auto it = gradients.find(bytes);
    if (it == gradients.end() || of.open % it->second != 0) continue;
    const uint32_t each = of.open / it->second;
    if (each < votes.size()) votes[each] += bytes * of.open;
  }
  const uint64_t most = states_known ? votes[1] : *std::max_element(votes.begin(), votes.end());
  return most * 20 >= all * 19;
}

// Whether, for most sizes, the number of blocks is the same small multiple of the number of
// gradients. Before the first step there are only parameters, so both numbers must be equal.
bool Divide(const SizeCounts& gradients, const OfSizes& sizes) {
  std::array<uint64_t, kMostStates + 2> votes{};
  uint64_t all = 0;
  bool first_step = true;
  for (const auto& [bytes, count] : gradients) {
    const auto it = sizes.find(bytes);
    if (it == sizes.end()) continue;
    first_step &= it->second.open_older + it->second.states == 0;
    const uint32_t blocks = it->second.open + it->second.parameters + it->second.states;
    all += bytes * blocks;
    if (blocks % count == 0 && blocks / count < votes.size()) {
      votes[blocks / count] += bytes * blocks;
    }
  }
  return (first_step ? votes[1] : *std::max_element(votes.begin(), votes.end())) * 2 > all;
}

bool LooksLikeIntegers(uint64_t bytes, uint32_t blocks) {
  return bytes > kScalar && bytes % 8 == 0 && bytes <= kLargestIntegers &&
         (blocks == 2 || blocks == 4);
}

}  // namespace

void ClassifyPersistent(const Training& training, std::vector<Persistent>& kept) {
  const SizeCounts& gradients = training.gradients;
  OfSizes sizes;
  uint64_t open_bytes = 0, trained_bytes = 0;
  uint32_t trained = 0;
  for (const Persistent& k : kept) {
    OfSize& of = sizes[k.bytes];
    if (k.category == Category::kParameter) ++of.parameters;
    if (k.category == Category::kOptimizerState) ++of.states;
    if (k.category != Category::kUnknown) continue;
    ++of.open;
    of.open_older += k.older;
    open_bytes += k.bytes;
  }
  const bool states_known = std::ranges::any_of(
      sizes, [](const auto& size) { return size.first > kScalar && size.second.states > 0; });
  Backward backward = training.backward;
  if (backward == Backward::kPerhapsWhole) {
    backward = gradients.empty() || Divide(gradients, sizes) ? Backward::kWhole : Backward::kCut;
  }
  SizeCounts model = gradients;
  uint32_t states = 0, kept_gradients = 0;  // number for each parameter
  const bool all_gradients =
      !gradients.empty() && (backward == Backward::kWhole || Fit(gradients, sizes, states_known));
  if (all_gradients) {
    if (!training.first_states) states = StatesOfEachParameter(gradients, sizes);
  } else if (gradients.empty() && backward == Backward::kWhole) {
    // If gradients are never freed, each parameter has a gradient and perhaps states of its size.
    for (uint32_t each = 2; each <= (training.first_states ? 2 : kMostStates + 1); ++each) {
      if (!AllComeIn(each, sizes, &training.passing)) continue;
      kept_gradients = 1;
      states = each - 2;
      for (const auto& [bytes, count] : training.passing) {
        const auto it = sizes.find(bytes);
        if (it == sizes.end() || it->second.open_older == 0) continue;
        if (it->second.open % each == 0) model[bytes] = it->second.open / each;
      }
      break;
    }
  } else if (!training.first_states && !training.inference && !states_known) {
    // With two moments per parameter, there are three blocks of each size, or four if gradients are
    // never freed. With one moment, there are two. Many untrained models also have two of each
    // size, so two blocks count as evidence only if backward shows that most blocks are trained.
    const bool most = MostTrain(training, sizes);
    uint32_t made = 0;
    for (const auto& [bytes, count] : gradients) made += count;
    const bool frozen = made >= kGradientsOfFrozen && !most;
    for (uint32_t each = 4; each >= (most ? 2 : 3) && !frozen; --each) {
      if (!AllComeIn(each, sizes, nullptr)) continue;
      kept_gradients = each == 4 ? 1 : 0;
      states = each - 1 - kept_gradients;
      model.clear();
      for (const auto& [bytes, of] : sizes) {
        if (of.open_older > 0 && of.open % each == 0) model[bytes] = of.open / each;
      }
      break;
    }
  }
  for (const auto& [bytes, count] : model) {
    trained += count;
    const auto it = sizes.find(bytes);
    if (it != sizes.end()) {
      trained_bytes += bytes * std::min(it->second.open, count * (1 + kept_gradients + states));
    }
  }
  const bool whole_model_trains =
      trained_bytes * 2 >= open_bytes && (all_gradients || states > 0 || kept_gradients > 0);
  // If backward is cut off, parameters without a gradient may get one later.
  const bool too_few = backward == Backward::kCut && !all_gradients && states == 0;
  for (Persistent& k : kept) {
    if (k.category != Category::kUnknown) continue;
    OfSize& of = sizes[k.bytes];
    const uint32_t nth = of.next++;
    const auto it = model.find(k.bytes);
    const uint32_t count = it == model.end() ? 0 : it->second;
    const uint32_t parameters = count - std::min(count, of.parameters);
    const uint32_t held = count * kept_gradients;
    const uint32_t state_count = k.older ? count * states - std::min(count * states, of.states) : 0;
    // Fused and capturable optimizers keep a step number for each parameter on the GPU.
    const bool steps = states > 0 && k.bytes <= kScalar && k.older && trained > 0 && count == 0 &&
                       of.open >= trained && nth >= of.open - trained;
    if (nth < parameters) {
      k.category = Category::kParameter, k.rule = kPersistentParameter;
    } else if (nth < parameters + held) {
      k.category = Category::kGradient, k.rule = kPersistentGradient;
    } else if (nth < parameters + held + state_count || steps) {
      k.category = Category::kOptimizerState, k.rule = kPersistentState;
    } else if (k.batch) {
      k.category = Category::kInput, k.rule = kPersistentInput;
    } else if (model.empty() || too_few || !whole_model_trains) {
      k.category = Category::kParameter,
      k.rule = model.empty() || too_few ? kPersistentUnknown : kPersistentFrozen;
    } else if (k.older && LooksLikeIntegers(k.bytes, of.open - parameters - held - state_count)) {
      k.category = Category::kInput, k.rule = kPersistentInput;
    } else {
      k.category = Category::kBuffer, k.rule = kPersistentBuffer;
    }
  }
}

}  // namespace vramscope::inference
