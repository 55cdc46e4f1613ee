// Outputs of selected operators in a code section, kept in the first run and reused in the second.
//
//   OpCache cache;
//   { OpCacheScope first(&cache, policy.get(), OpCacheScope::Mode::kKeep); out = segment(); }
//   { OpCacheScope again(&cache, same_policy.get(), OpCacheScope::Mode::kReuse); segment(); }
//
// Acts on the scope's thread, below autograd, like a TorchDispatchMode in Python.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "trainer/capture/taps.h"
#include "trainer/techniques/recompute/frames.h"

namespace vramscope::trainer {

class OpCache {
 public:
  void Keep(const std::string& op, const c10::IValue* outputs, size_t count);
  // Returns the outputs of the same call in the first run, and removes them from the cache.
  std::vector<c10::IValue> Take(const std::string& op);

 private:
  struct Outputs {
    std::vector<c10::IValue> values;
    std::vector<std::unique_ptr<SavedMark>> marks;
  };
  std::unordered_map<std::string, std::deque<Outputs>> outputs_;
};

class OpCacheScope {
 public:
  enum class Mode : uint8_t { kKeep, kReuse };
  OpCacheScope(OpCache* cache, OpPolicy* policy, Mode mode);
  ~OpCacheScope();
  OpCacheScope(const OpCacheScope&) = delete;
  OpCacheScope& operator=(const OpCacheScope&) = delete;

  struct State;

 private:
  State* outer_;
  std::unique_ptr<State> state_;
};

}  // namespace vramscope::trainer
