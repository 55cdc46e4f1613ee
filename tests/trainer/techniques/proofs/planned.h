// Plans a small model with the given settings, and computes the requested bytes of each category at
// any time. Tests use this to compare the formula of a technique with the plan to the byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {

using Settings = std::map<std::string, std::string>;

// The sizes of the model in most proofs. They are large enough for blocks of quantised state.
struct Shape {
  int64_t layers = 3, hidden = 64, feed = 96, heads = 4, kv_heads = 2, vocab = 512;
  int64_t head() const { return hidden / heads; }
};

inline std::string Qwen(const Shape& s = {}) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  return R"({"architectures": ["Qwen2ForCausalLM"], "vocab_size": )" + number(s.vocab) +
         R"(, "hidden_size": )" + number(s.hidden) + R"(, "intermediate_size": )" + number(s.feed) +
         R"(, "num_hidden_layers": )" + number(s.layers) + R"(, "num_attention_heads": )" +
         number(s.heads) + R"(, "num_key_value_heads": )" + number(s.kv_heads) +
         R"(, "rms_norm_eps": 1e-6, "tie_word_embeddings": true})";
}

class Planned {
 public:
  using Bytes = std::array<uint64_t, trace::kCategoryCount>;

  explicit Planned(const Settings& settings, const std::string& model = Qwen()) {
    run::RunConfig config = TinyConfig(run::Backend::kPlan, model.c_str());
    config.steps = 3;
    for (const auto& [key, value] : settings) {
      if (key == "batch") {
        config.batch = std::stoi(value);
      } else if (key == "seq") {
        config.seq = std::stoi(value);
      } else if (key == "steps") {
        config.steps = std::stoi(value);
      } else if (key == "micro_batches") {
        config.micro_batches = std::stoi(value);
      } else if (key == "device") {
        config.device = value;
      } else if (key == "alloc_conf") {
        config.alloc_conf = value;
      } else {
        config.Set(key, value);
      }
    }
    last_step = config.steps - 1;
    const RunResult result = RunTiny(config);
    EXPECT_TRUE(result.status.ok()) << result.status;
    ok = result.status.ok();
    trace = result.trace;
  }

  static Planned Of(std::shared_ptr<const trace::Trace> made) {
    Planned out;
    out.trace = std::move(made);
    out.ok = true;
    return out;
  }

  // Calls `visit` for each event, with the requested bytes that are live after it.
  void Walk(const std::function<void(uint32_t event, const Bytes& live)>& visit) const {
    const trace::EventTable& events = trace->events;
    Bytes live{};
    std::unordered_map<uint64_t, std::pair<uint64_t, trace::Category>> blocks;
    for (uint32_t i = 0; i < events.size(); ++i) {
      switch (events.kind[i]) {
        case trace::EventKind::kAlloc:
          blocks[events.id[i]] = {events.bytes[i], events.category[i]};
          live[Index(events.category[i])] += events.bytes[i];
          break;
        case trace::EventKind::kRetag: {
          auto& [bytes, category] = blocks[events.id[i]];
          live[Index(category)] -= bytes;
          category = events.category[i];
          live[Index(category)] += bytes;
          break;
        }
        case trace::EventKind::kFreeCompleted: {
          const auto [bytes, category] = blocks[events.id[i]];
          live[Index(category)] -= bytes;
          blocks.erase(events.id[i]);
          break;
        }
        default:
          break;
      }
      visit(i, live);
    }
  }

  // Returns the live bytes at the begin or end of a phase of a step. If the step has several such
  // phases, uses the last.
  Bytes At(trace::EventKind kind, trace::Phase phase, int step) const {
    Bytes out{};
    int now = -1;
    Walk([&](uint32_t i, const Bytes& live) {
      const trace::EventTable& events = trace->events;
      if (events.kind[i] == trace::EventKind::kStepBegin) now = static_cast<int>(events.id[i]);
      if (now == step && events.kind[i] == kind &&
          static_cast<trace::Phase>(events.detail[i]) == phase) {
        out = live;
      }
    });
    return out;
  }
  // Returns begin and end of a phase of a step. If there are several such phases, uses the last.
  std::pair<int64_t, int64_t> PhaseTimes(trace::Phase phase, int step) const {
    std::pair<int64_t, int64_t> out{};
    int now = -1;
    const trace::EventTable& events = trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == trace::EventKind::kStepBegin) now = static_cast<int>(events.id[i]);
      if (now != step || static_cast<trace::Phase>(events.detail[i]) != phase) continue;
      if (events.kind[i] == trace::EventKind::kPhaseBegin) out.first = events.time_ns[i];
      if (events.kind[i] == trace::EventKind::kPhaseEnd) out.second = events.time_ns[i];
    }
    return out;
  }
  // Returns the bytes that forward and loss keep for backward in the last step.
  uint64_t Kept() const {
    const Bytes live = At(trace::EventKind::kPhaseBegin, trace::Phase::kBackward, last_step);
    return live[Index(trace::Category::kActivation)] +
           live[Index(trace::Category::kAutogradDetail)] + live[Index(trace::Category::kKvCache)];
  }
  // Returns the maximum bytes of a category in a step or, if `within` is set, in that phase of it.
  uint64_t Peak(trace::Category category, int step,
                trace::Phase within = trace::Phase::kNone) const {
    uint64_t peak = 0;
    int now = -1;
    bool inside = within == trace::Phase::kNone;
    Walk([&](uint32_t i, const Bytes& live) {
      const trace::EventTable& events = trace->events;
      const bool named = static_cast<trace::Phase>(events.detail[i]) == within;
      if (events.kind[i] == trace::EventKind::kStepBegin) now = static_cast<int>(events.id[i]);
      if (within != trace::Phase::kNone) {
        if (events.kind[i] == trace::EventKind::kPhaseBegin && named) inside = true;
        if (events.kind[i] == trace::EventKind::kPhaseEnd && named) inside = false;
      }
      if (now == step && inside) peak = std::max(peak, live[Index(category)]);
    });
    return peak;
  }
  uint64_t PeakOfAll() const {
    uint64_t peak = 0;
    Walk([&](uint32_t, const Bytes& live) {
      uint64_t sum = 0;
      for (const uint64_t bytes : live) sum += bytes;
      peak = std::max(peak, sum);
    });
    return peak;
  }
  uint64_t PeakReserved() const {
    uint64_t now = 0, peak = 0;
    const trace::EventTable& events = trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      const bool whole = events.detail[i] == 0;
      switch (events.kind[i]) {
        case trace::EventKind::kSegmentAlloc:
          if (whole) now += events.bytes[i];
          break;
        case trace::EventKind::kSegmentFree:
          if (whole) now -= events.bytes[i];
          break;
        case trace::EventKind::kSegmentMap:
          now += events.bytes[i];
          break;
        case trace::EventKind::kSegmentUnmap:
          now -= events.bytes[i];
          break;
        default:
          break;
      }
      peak = std::max(peak, now);
    }
    return peak;
  }

  // Returns the rows of the blocks for which `wanted` is true.
  std::vector<uint32_t> Blocks(const std::function<bool(uint32_t row)>& wanted) const {
    std::vector<uint32_t> out;
    for (uint32_t row = 0; row < trace->allocations.size(); ++row) {
      if (wanted(row)) out.push_back(row);
    }
    return out;
  }
  // Returns how many bytes were allocated in this category in the whole run.
  uint64_t AllocatedIn(trace::Category category) const {
    uint64_t sum = 0;
    for (uint32_t row :
         Blocks([&](uint32_t r) { return trace->allocations.main_category[r] == category; })) {
      sum += trace->allocations.bytes[row];
    }
    return sum;
  }
  // Elements of each parameter (fp32).
  std::vector<uint64_t> Parameters() const {
    std::vector<uint64_t> out;
    for (uint32_t row : Blocks([&](uint32_t r) {
           return trace->allocations.birth_category[r] == trace::Category::kParameter;
         })) {
      out.push_back(trace->allocations.bytes[row] / 4);
    }
    return out;
  }
  // Returns how often a module whose path contains `part` begins in a phase of a step.
  int Calls(std::string_view part, trace::Phase within, int step) const {
    int calls = 0, now = -1;
    bool inside = false;
    const trace::EventTable& events = trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      const bool named = static_cast<trace::Phase>(events.detail[i]) == within;
      if (events.kind[i] == trace::EventKind::kStepBegin) now = static_cast<int>(events.id[i]);
      if (events.kind[i] == trace::EventKind::kPhaseBegin && named) inside = true;
      if (events.kind[i] == trace::EventKind::kPhaseEnd && named) inside = false;
      if (now == step && inside && events.kind[i] == trace::EventKind::kModuleBegin &&
          trace->String(events.name[i]).find(part) != std::string_view::npos) {
        ++calls;
      }
    }
    return calls;
  }
  // Returns how many bytes are copied from one memory space to another in a step.
  uint64_t Copied(trace::MemorySpace from, trace::MemorySpace to, int step) const {
    int64_t begin = 0, end = 0;
    const trace::EventTable& events = trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (static_cast<int>(events.id[i]) != step) continue;
      if (events.kind[i] == trace::EventKind::kStepBegin) begin = events.time_ns[i];
      if (events.kind[i] == trace::EventKind::kStepEnd) end = events.time_ns[i];
    }
    uint64_t bytes = 0;
    for (uint32_t row = 0; row < trace->activities.size(); ++row) {
      const trace::Activity activity = trace->activities.Row(row);
      if (activity.begin_ns < begin || activity.begin_ns >= end) continue;
      if (activity.from == from && activity.to == to) bytes += activity.bytes;
    }
    return bytes;
  }
  // Returns kind, size and category of all events in order, except events of the driver.
  std::vector<std::string> Stream(int step = -1) const {
    std::vector<std::string> out;
    int now = -1;
    const trace::EventTable& events = trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == trace::EventKind::kStepBegin) now = static_cast<int>(events.id[i]);
      if (step >= 0 && now != step) continue;
      switch (events.kind[i]) {
        case trace::EventKind::kAlloc:
        case trace::EventKind::kFreeRequested:
        case trace::EventKind::kFreeCompleted:
        case trace::EventKind::kRetag:
          out.push_back(std::string(trace::Name(events.kind[i])) + " " +
                        std::to_string(events.bytes[i]) + " " +
                        std::string(trace::Name(events.category[i])));
          break;
        default:
          break;
      }
      if (events.kind[i] == trace::EventKind::kStepEnd) now = -1;
    }
    return out;
  }

  static size_t Index(trace::Category category) { return static_cast<size_t>(category); }

  std::shared_ptr<const trace::Trace> trace;
  int last_step = 0;
  bool ok = false;

 private:
  Planned() = default;
};

inline uint64_t Sum(const std::vector<uint64_t>& values) {
  uint64_t sum = 0;
  for (const uint64_t value : values) sum += value;
  return sum;
}

}  // namespace vramscope::trainer
