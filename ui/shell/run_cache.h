// A cache of plans by configuration. Because planning is deterministic, cached plans can be used
// again. So no worker is needed for undo, for switching a toggle back, or for a toggle whose saving
// was planned in the background.
//
//   cache.Put(config, digest);
//   if (auto known = cache.Find(config)) show(known);
//
// Only complete plans are cached. The least recently used plan is evicted first. By default, the
// plans of all savings of two runs fit into the cache (a plan of Qwen2-0.5B has 6 MB), but the
// cache takes at most an eighth of this computer's memory. UI thread only.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "profiler/run/run_config.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

class RunCache {
 public:
  explicit RunCache(uint64_t max_bytes = DefaultBytes()) : max_bytes_(max_bytes) {}
  static uint64_t DefaultBytes();

  void Put(const run::RunConfig& config, std::shared_ptr<const Digest> digest);
  std::shared_ptr<const Digest> Find(const run::RunConfig& config);  // null: not cached
  uint64_t bytes() const { return bytes_; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Digest> digest;
    uint64_t bytes = 0;
  };
  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace vramscope::ui
