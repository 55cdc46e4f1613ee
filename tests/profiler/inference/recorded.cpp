#include "tests/profiler/inference/recorded.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <filesystem>

#include "profiler/importers/snapshot.h"
#include "profiler/trace/input.h"

namespace vramscope::testing {
namespace {

using recording::Action;
using recording::EntryIndex;
using recording::kNoEntry;
using recording::Labels;
using trace::Category;
using trace::Phase;

constexpr uint64_t kBatch = 4, kWorkspace = 8'519'680;

}  // namespace

std::optional<std::string> SharedFolder() {
  const std::filesystem::path folder = std::string(VRAMSCOPE_SOURCE_DIR) + "/../shared";
  if (!std::filesystem::exists(folder / "snapshots/index.json")) return std::nullopt;
  return folder.string();
}

std::map<uint64_t, uint32_t> RecordedModel::ParameterSizes() const {
  std::map<uint64_t, uint32_t> sizes;
  sizes[4 * vocabulary * d] += 2;
  sizes[4 * d * d] += static_cast<uint32_t>(4 * layers);
  sizes[4 * d * f] += static_cast<uint32_t>(3 * layers);
  sizes[4 * d] += static_cast<uint32_t>(2 * layers + 1);
  return sizes;
}
uint64_t RecordedModel::ParameterBytes() const {
  uint64_t bytes = 0;
  for (const auto& [size, count] : ParameterSizes()) bytes += size * count;
  return bytes;
}
RecordedModel Medium(uint64_t context) {
  return {.d = 1024, .f = 4096, .layers = 24, .heads = 16, .vocabulary = 10000, .context = context};
}
RecordedModel Kk(uint64_t context) {
  return {
      .d = 2560, .f = 10240, .layers = 32, .heads = 32, .vocabulary = 10000, .context = context};
}

absl::StatusOr<Stripped> ReadRecorded(const std::string& snapshot) {
  auto input = trace::InputStream::Open(snapshot);
  if (!input.ok()) return input.status();
  auto recording = importers::ReadSnapshot(**input, {});
  if (!recording.ok()) return recording.status();
  auto history = recording::Reconstruct(*recording);
  if (!history.ok()) return history.status();
  Stripped recorded;
  recorded.recording = *std::move(recording);
  recorded.history = *std::move(history);
  recorded.birth.assign(recorded.history.allocations.size(), Category::kUnknown);
  recorded.phase.assign(recorded.recording.entries.size(), Phase::kNone);
  recorded.step.assign(recorded.recording.entries.size(), 0);
  return recorded;
}

void WithoutStacks(Stripped& recorded) {
  for (auto& stack : recorded.recording.entries.stack) stack = {};
  for (auto& stack : recorded.history.allocations.stack) stack = {};
  recorded.recording.stacks = {};
  recorded.recording.annotations.clear();
}

absl::Status AddMediumTruth(const std::string& requests_csv, const RecordedModel& model,
                            const Labels& labels, Stripped& recorded) {
  const auto csv = trace::ReadWholeInput(requests_csv, size_t{1} << 30);
  if (!csv.ok()) return csv.status();
  const recording::History& history = recorded.history;
  const auto& entries = recorded.recording.entries;
  const auto& allocations = history.allocations;
  constexpr size_t kPhase = 9, kTensor = 14, kKind = 15;
  std::vector<std::string> tensor(entries.size()), kind(entries.size());
  EntryIndex at = 0, backward_end = 0;
  for (const auto line : absl::StrSplit(*csv, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    if (cells[0] == "index") continue;
    if (cells.size() <= kKind || at >= entries.size()) {
      return absl::DataLossError("the table does not fit the snapshot");
    }
    recorded.phase[at] = cells[kPhase] == "forward"    ? Phase::kForward
                         : cells[kPhase] == "backward" ? Phase::kBackward
                                                       : Phase::kOptimizer;
    if (recorded.phase[at] == Phase::kBackward) backward_end = at + 1;
    tensor[at] = cells[kTensor];
    kind[at] = cells[kKind];
    ++at;
  }
  if (at != entries.size()) return absl::DataLossError("the table does not fit the snapshot");

  std::map<std::string, std::vector<uint32_t>> new_moments;  // keyed by parameter
  for (uint32_t a = history.older; a < allocations.size(); ++a) {
    const EntryIndex born = allocations.alloc[a], dead = allocations.free_completed[a];
    Category& truth = recorded.birth[a];
    switch (recorded.phase[born]) {
      case Phase::kForward:
        if (dead != kNoEntry && recorded.phase[dead] == Phase::kForward) {
          truth = Category::kTemporary;
        } else {
          truth = Category::kActivation;
          // The logits and the loss: when the graph is freed, variables still refer to them.
          if (dead == kNoEntry || dead >= backward_end) {
            recorded.retags.push_back({backward_end, a, Category::kTemporary, 0});
          }
        }
        break;
      case Phase::kBackward:
        truth = kind[born] == "grad" ? Category::kGradient : Category::kAutogradDetail;
        break;
      default:
        truth = Category::kTemporary;
        if (const size_t bar = tensor[born].find('|');
            tensor[born].ends_with("|m1") || tensor[born].ends_with("|v1")) {
          new_moments[tensor[born].substr(0, bar)].push_back(a);
        }
    }
  }
  // New moments become optimizer state after the update that they were computed for.
  for (EntryIndex i = 0; i < entries.size(); ++i) {
    if (entries.action[i] != Action::kFreeCompleted || !tensor[i].ends_with("|upd")) continue;
    for (const uint32_t a : new_moments[tensor[i].substr(0, tensor[i].find('|'))]) {
      recorded.retags.push_back({i + 1, a, Category::kOptimizerState, 0});
    }
  }
  std::stable_sort(recorded.retags.begin(), recorded.retags.end(),
                   [](const auto& x, const auto& y) { return x.at < y.at; });

  std::map<uint64_t, std::map<Category, uint32_t>> of_size;
  for (const auto& [bytes, count] : model.ParameterSizes()) {
    of_size[bytes][Category::kParameter] = count;
  }
  of_size[2 * model.context * (model.d / model.heads / 2) * 4][Category::kBuffer] += 1;
  of_size[5 * kBatch * model.context * 8][Category::kInput] += 2;
  of_size[kBatch * model.context * 8][Category::kInput] += 2;
  of_size[kWorkspace][Category::kWorkspace] += 2;
  std::vector<uint32_t> open;
  for (uint32_t a = 0; a < history.older; ++a) {
    if (allocations.free_completed[a] != kNoEntry) {
      if (kind[allocations.free_completed[a]] != "state") {
        return absl::DataLossError("an older block is freed that is no state");
      }
      recorded.birth[a] = Category::kOptimizerState;
      continue;
    }
    auto& left = of_size[allocations.requested[a]];
    const auto it = left.find(labels.category[a]);
    if (it != left.end() && it->second > 0) {
      --it->second;
      recorded.birth[a] = labels.category[a];
    } else {
      open.push_back(a);
    }
  }
  for (const uint32_t a : open) {
    for (auto& [category, count] : of_size[allocations.requested[a]]) {
      if (count == 0) continue;
      --count;
      recorded.birth[a] = category;
      break;
    }
  }
  for (const auto& [bytes, categories] : of_size) {
    for (const auto& [category, count] : categories) {
      if (count != 0) return absl::DataLossError("the model is not the snapshot's");
    }
  }
  return absl::OkStatus();
}

Totals InferredTotals(const Stripped& recorded, const Labels& labels) {
  const auto& allocations = recorded.history.allocations;
  const auto& entries = recorded.recording.entries;
  std::vector<Category> is = labels.category;
  std::vector<bool> alive(allocations.size());
  Totals totals;
  auto& now = totals.at_end;
  uint64_t live = 0, peak = 0;
  const auto add = [&](uint32_t a) { now[static_cast<size_t>(is[a])] += allocations.requested[a]; };
  const auto drop = [&](uint32_t a) {
    now[static_cast<size_t>(is[a])] -= allocations.requested[a];
  };
  for (uint32_t a = 0; a < recorded.history.older; ++a) {
    alive[a] = true;
    add(a);
    live += allocations.bytes[a];
  }
  size_t next = 0;
  for (EntryIndex i = 0; i <= entries.size(); ++i) {
    for (; next < labels.retags.size() && labels.retags[next].at <= i; ++next) {
      const Labels::Retag& r = labels.retags[next];
      if (alive[r.allocation]) drop(r.allocation);
      is[r.allocation] = r.category;
      if (alive[r.allocation]) add(r.allocation);
    }
    if (live > peak) {
      peak = live;
      totals.at_peak = now;
    }
    if (i == entries.size()) break;
    const uint32_t a = recorded.history.allocation_of_entry[i];
    if (a >= allocations.size()) continue;
    if (entries.action[i] == Action::kAlloc) {
      alive[a] = true;
      add(a);
      live += allocations.bytes[a];
    } else if (allocations.free_completed[a] == i) {
      alive[a] = false;
      drop(a);
      live -= allocations.bytes[a];
    }
  }
  return totals;
}

}  // namespace vramscope::testing
