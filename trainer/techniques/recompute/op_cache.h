// Keeps outputs of selected operators in the first run of some code, and reuses them in a second
// run.
//
//   OpCache cache;
//   { OpCacheScope first(&cache, policy.get(), OpCacheScope::Mode::kKeep); out = segment(); }
//   { OpCacheScope again(&cache, same_policy.get(), OpCacheScope::Mode::kReuse); segment(); }
//
// The operators are intercepted on the thread that made the scope, below autograd, like by a
// TorchDispatchMode in Python.
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
  // Removes the outputs of the next call of `op` from the cache, and returns them.
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
