// Generates a deterministic training trace for tests, images and benchmarks. It has parameters
// and optimizer states, steps (forward, loss, backward, optimizer) with nested modules and
// operators, activations that backward frees in reverse order, gradients, retags, and
// segments.
//
//   auto trace = MakeSyntheticTrace({.layers = 24, .steps = 1});
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/trace/trace.h"
#include "tests/ui/timeline/synthetic_activities.h"

namespace vramscope::testing {

struct SyntheticOptions {
  int layers = 24;
  int steps = 1;
  int micro_batches = 1;
  int ops_per_module = 3;            // each allocates an activation and a temporary
  uint64_t hidden_bytes = 16 << 20;  // size of an activation
  double activation_share = 1;       // below 1, the forward frees some, as in checkpointing
  double speed = 1;                  // factor of the duration of every operator
  int64_t start_ns = 1'000'000;
  ActivityOptions activities = {};
};

class SyntheticRun {
 public:
  explicit SyntheticRun(const SyntheticOptions& o) : o_(o), now_(o.start_ns) {
    strings_.push_back("");
    ids_.emplace("", 0);
  }

  std::shared_ptr<const trace::Trace> Make() {
    Setup();
    for (int step = 0; step < o_.steps; ++step) Step(step);
    std::vector<trace::Activity> activities;
    if (o_.activities.streams > 0)
      activities =
          MakeActivities(events_, o_.activities, [this](const std::string& s) { return Str(s); });
    trace::TraceBuilder builder;
    trace::TraceInfo info;
    info.title = "synthetic";
    info.model.name = "synthetic";
    info.model.layers = static_cast<uint32_t>(o_.layers);
    builder.SetInfo(info);
    EXPECT_TRUE(builder.AddStrings(0, strings_).ok());
    auto status = builder.AddEvents(events_);
    EXPECT_TRUE(status.ok()) << status;
    auto added = builder.AddActivities(activities);
    EXPECT_TRUE(added.ok()) << added;
    return builder.Finish(true, "");
  }

 private:
  using Event = trace::Event;
  using Kind = trace::EventKind;
  struct Block {
    uint64_t id, address, bytes;
  };

  trace::StringId Str(const std::string& s) {
    auto [it, added] = ids_.emplace(s, static_cast<uint32_t>(strings_.size()));
    if (added) strings_.push_back(s);
    return {it->second};
  }

  Event& Add(Kind kind) {
    Event e;
    e.kind = kind;
    e.time_ns = now_;
    events_.push_back(e);
    return events_.back();
  }

  // Places the block by first fit, in segments of 64 MiB or more. Similar enough to an
  // allocator.
  uint64_t Place(uint64_t bytes) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < bytes) continue;
      uint64_t address = it->first, rest = it->second - bytes;
      free_.erase(it);
      if (rest) free_[address + bytes] = rest;
      return address;
    }
    uint64_t segment = std::max<uint64_t>((bytes + (2 << 20) - 1) >> 21 << 21, 64 << 20);
    Event& e = Add(Kind::kSegmentAlloc);
    e.id = segments_++;
    e.bytes = segment;
    e.address = next_segment_;
    e.pool = trace::Pool::kLarge;
    uint64_t address = next_segment_;
    next_segment_ += segment + (32 << 20);  // never adjacent
    if (segment > bytes) free_[address + bytes] = segment - bytes;
    return address;
  }

  Block Alloc(uint64_t bytes, trace::Category category, const std::string& op) {
    uint64_t rounded = (bytes + 511) / 512 * 512;
    Block b{allocations_++, Place(rounded), rounded};
    Event& e = Add(Kind::kAlloc);
    e.id = b.id;
    e.bytes = bytes;
    e.bytes_rounded = rounded;
    e.address = b.address;
    e.pool = trace::Pool::kLarge;
    e.category = category;
    e.name = Str(op);
    e.module = Str(module_);
    return b;
  }

  void Free(const Block& b) {
    Add(Kind::kFreeRequested).id = b.id;
    Add(Kind::kFreeCompleted).id = b.id;
    auto [it, added] = free_.emplace(b.address, b.bytes);
    auto next = std::next(it);
    if (next != free_.end() && it->first + it->second == next->first) {
      it->second += next->second;
      free_.erase(next);
    }
    if (it != free_.begin()) {
      auto before = std::prev(it);
      if (before->first + before->second == it->first) {
        before->second += it->second;
        free_.erase(it);
      }
    }
  }

  void Retag(const Block& b, trace::Category category) {
    Event& e = Add(Kind::kRetag);
    e.id = b.id;
    e.category = category;
  }

  void Spend(double us) { now_ += static_cast<int64_t>(us * 1000 * o_.speed); }

  void Phase(trace::Phase p, bool begin) {
    Add(begin ? Kind::kPhaseBegin : Kind::kPhaseEnd).detail = static_cast<uint8_t>(p);
  }
  void Module(const std::string& path, bool begin) {
    if (begin) {
      Add(Kind::kModuleBegin).name = Str(path);
      module_ = path;
    } else {
      Add(Kind::kModuleEnd).name = Str(path);
      size_t dot = path.rfind('.');
      module_ = dot == std::string::npos ? "" : path.substr(0, dot);
    }
  }
  void Op(const std::string& name, bool begin) {
    Event& e = Add(begin ? Kind::kOpBegin : Kind::kOpEnd);
    e.name = Str(name);
    e.module = Str(module_);
  }

  void Setup() {
    Phase(trace::Phase::kSetup, true);
    for (int l = 0; l < o_.layers; ++l) {
      module_ = "model.layers." + std::to_string(l) + ".self_attn.q_proj";
      for (int i = 0; i < 4; ++i) {
        Block b = Alloc(o_.hidden_bytes, trace::Category::kUnknown, "aten::empty");
        Retag(b, trace::Category::kParameter);
        parameters_.push_back(b);
        Spend(20);
      }
    }
    module_.clear();
    Phase(trace::Phase::kSetup, false);
  }

  void Forward() {
    Phase(trace::Phase::kForward, true);
    Module("model", true);
    for (int l = 0; l < o_.layers; ++l) {
      std::string layer = "model.layers." + std::to_string(l);
      Module(layer, true);
      for (const char* part : {"self_attn", "mlp"}) {
        Module(layer + "." + part, true);
        for (int i = 0; i < o_.ops_per_module; ++i) {
          static constexpr const char* kOps[] = {"aten::mm", "aten::softmax", "aten::mul",
                                                 "aten::silu"};
          std::string op = kOps[i % 4];
          Op(op, true);
          Spend(150 + 37 * (i % 3));
          Block temporary = Alloc(o_.hidden_bytes / 8, trace::Category::kTemporary, op);
          Block kept = Alloc(o_.hidden_bytes, trace::Category::kActivation, op);
          Spend(260);
          Free(temporary);
          if (i < o_.ops_per_module * o_.activation_share) {
            activations_.push_back(kept);
          } else {
            Free(kept);
          }
          Op(op, false);
        }
        Module(layer + "." + part, false);
      }
      Module(layer, false);
    }
    Module("model", false);
    Phase(trace::Phase::kForward, false);
  }

  void Loss() {
    Phase(trace::Phase::kLoss, true);
    module_ = "model.lm_head";
    Op("aten::log_softmax", true);
    Spend(400);
    Block logits = Alloc(o_.hidden_bytes * 3, trace::Category::kActivation, "aten::log_softmax");
    Block shift = Alloc(o_.hidden_bytes * 2, trace::Category::kTemporary, "aten::log_softmax");
    Spend(600);
    Free(shift);
    activations_.push_back(logits);
    Op("aten::log_softmax", false);
    module_.clear();
    Phase(trace::Phase::kLoss, false);
  }

  void Backward() {
    Phase(trace::Phase::kBackward, true);
    size_t per_gradient =
        std::max<size_t>(activations_.size() / std::max<size_t>(parameters_.size(), 1), 1);
    size_t done = 0;
    while (!activations_.empty()) {
      Op("MmBackward0", true);
      Spend(420);
      Block workspace = Alloc(o_.hidden_bytes / 4, trace::Category::kWorkspace, "MmBackward0");
      if (done % per_gradient == 0 && gradients_.size() < parameters_.size()) {
        gradients_.push_back(Alloc(o_.hidden_bytes, trace::Category::kTemporary, "MmBackward0"));
        Spend(80);
        Retag(gradients_.back(), trace::Category::kGradient);
      }
      Spend(300);
      Free(workspace);
      Free(activations_.back());
      activations_.pop_back();
      ++done;
      Op("MmBackward0", false);
    }
    Phase(trace::Phase::kBackward, false);
  }

  void Optimizer() {
    Phase(trace::Phase::kOptimizer, true);
    Op("Optimizer.step", true);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Spend(120);
      if (states_.size() < 2 * parameters_.size()) {
        for (int k = 0; k < 2; ++k) {
          states_.push_back(Alloc(o_.hidden_bytes, trace::Category::kUnknown, "aten::zeros_like"));
          Retag(states_.back(), trace::Category::kOptimizerState);
        }
      }
      Block t = Alloc(o_.hidden_bytes, trace::Category::kTemporary, "aten::addcdiv");
      Spend(240);
      Free(t);
    }
    Op("Optimizer.step", false);
    for (const Block& g : gradients_) Free(g);
    gradients_.clear();
    Phase(trace::Phase::kOptimizer, false);
  }

  void Step(int step) {
    Add(Kind::kStepBegin).id = static_cast<uint64_t>(step);
    Block input = Alloc(1 << 20, trace::Category::kInput, "aten::to");
    for (int m = 0; m < o_.micro_batches; ++m) {
      if (o_.micro_batches > 1) Add(Kind::kMicroBatchBegin).id = static_cast<uint64_t>(m);
      Forward();
      Loss();
      Backward();
      if (o_.micro_batches > 1) Add(Kind::kMicroBatchEnd).id = static_cast<uint64_t>(m);
    }
    Optimizer();
    Free(input);
    Spend(50);
    Add(Kind::kStepEnd).id = static_cast<uint64_t>(step);
  }

  SyntheticOptions o_;
  int64_t now_;
  std::vector<std::string> strings_;
  std::map<std::string, uint32_t> ids_;
  std::vector<Event> events_;
  std::map<uint64_t, uint64_t> free_;  // address -> bytes
  uint64_t next_segment_ = 0x7f0000000000, segments_ = 0, allocations_ = 0;
  std::string module_;
  std::vector<Block> parameters_, activations_, gradients_, states_;
};

inline std::shared_ptr<const trace::Trace> MakeSyntheticTrace(const SyntheticOptions& options) {
  return SyntheticRun(options).Make();
}

}  // namespace vramscope::testing
