#include "profiler/explain/pool_owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/site_names.h"

namespace vramscope::explain {
namespace {

// The use of a pool, as a call stack shows it. Later values take precedence. For example, memory
// that cuBLAS allocates during a capture belongs to the capture.
enum class Use : uint8_t { kNothing, kBlas, kCommunication, kWeights, kKvCache, kCapture };
constexpr size_t kUses = 6;

bool Contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}
bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> what) {
  return std::any_of(what.begin(), what.end(),
                     [text](std::string_view one) { return Contains(text, one); });
}

Use UseOf(std::string_view function, std::string_view file) {
  if (ContainsAny(function, {"capture_begin", "CUDAGraph", "cudagraph", "cuda_graph",
                             "capture_model", "graph_capture", "make_graphed_callables"}) ||
      ContainsAny(file, {"torch/cuda/graphs.py", "cudagraph_trees.py", "cuda_graph"})) {
    return Use::kCapture;
  }
  if (ContainsAny(function, {"kv_cache", "KVCache", "kv_buffer"}) ||
      ContainsAny(file, {"cache_engine", "kv_cache"})) {
    return Use::kKvCache;
  }
  if (ContainsAny(function, {"create_weights", "load_model", "load_weights"}) ||
      Contains(file, "model_loader")) {
    return Use::kWeights;
  }
  if (ContainsAny(function, {"ncclMemAlloc", "symmetric_memory", "SymmetricMemory"}) ||
      Contains(file, "symm_mem")) {
    return Use::kCommunication;
  }
  if (ContainsAny(function, {"CUDABlas", "cublas", "getCUDABlasLtWorkspace"})) return Use::kBlas;
  return Use::kNothing;
}

std::string_view EngineOf(std::string_view file) {
  for (const auto& [part, name] : std::array<std::pair<std::string_view, std::string_view>, 5>{
           {{"/vllm/", "vLLM"},
            {"/sglang/", "SGLang"},
            {"/tensorrt_llm/", "TensorRT-LLM"},
            {"/lmdeploy/", "LMDeploy"},
            {"/torch_memory_saver/", "torch_memory_saver"}}}) {
    if (Contains(file, part)) return name;
  }
  return "";
}

struct Said {
  Use use = Use::kNothing;
  std::string_view engine;
};
Said SaidBy(const trace::Trace& trace, trace::StackId stack) {
  Said said;
  for (const uint32_t frame : trace.stacks.Frames(stack)) {
    const std::string_view file = trace.String(trace.stacks.file[frame]);
    said.use = std::max(said.use, UseOf(trace.String(trace.stacks.function[frame]), file));
    if (said.engine.empty()) said.engine = EngineOf(file);
  }
  return said;
}

struct Sums {
  std::array<uint64_t, kUses> bytes{};
  std::map<std::string_view, uint64_t> engines;
  base::HashMap<uint32_t, uint64_t> stacks;
};

std::string NameOf(const Sums& sums, uint32_t mempool) {
  // Finds the use with the most bytes.
  Use use = Use::kNothing;
  for (size_t i = 1; i < kUses; ++i) {
    if (sums.bytes[i] > sums.bytes[static_cast<size_t>(use)] || use == Use::kNothing) {
      if (sums.bytes[i] > 0) use = static_cast<Use>(i);
    }
  }
  std::string_view engine;
  uint64_t most = 0;
  for (const auto& [name, bytes] : sums.engines) {
    if (!name.empty() && bytes > most) {
      most = bytes;
      engine = name;
    }
  }
  std::string_view what;
  switch (use) {
    case Use::kCapture:
      what = i18n::Text("CUDA graph capture");
      break;
    case Use::kKvCache:
      what = i18n::Text("KV cache");
      break;
    case Use::kWeights:
      what = i18n::Text("model weights");
      break;
    case Use::kCommunication:
      what = i18n::Text("communication buffers");
      break;
    case Use::kBlas:
      what = i18n::Text("cuBLAS workspaces");
      break;
    case Use::kNothing:
      // Only a pool of a capture has an id whose first number is not 0.
      what = mempool >> 16 != 0 ? i18n::Text("CUDA graph capture") : i18n::Text("private pool");
      break;
  }
  return engine.empty() ? std::string(what) : fmt::format("{}: {}", engine, what);
}

}  // namespace

std::vector<PoolOwner> PoolOwnersOf(const trace::Trace& trace) {
  const trace::SegmentTable& s = trace.segments;
  const trace::AllocationTable& a = trace.allocations;
  std::map<uint32_t, Sums> pools;
  base::HashMap<uint32_t, Said> said;
  const auto add = [&](uint32_t mempool, trace::StackId stack, uint64_t bytes) {
    if (stack.value == 0) return;
    Sums& sums = pools[mempool];
    const auto [it, fresh] = said.try_emplace(stack.value);
    if (fresh) it->second = SaidBy(trace, stack);
    sums.bytes[static_cast<size_t>(it->second.use)] += bytes;
    sums.engines[it->second.engine] += bytes;
    sums.stacks[stack.value] += bytes;
  };
  for (uint32_t id = 0; id < s.size(); ++id) {
    if (s.mempool[id] == 0) continue;
    pools[s.mempool[id]];
    add(s.mempool[id], trace.events.StackOf(s.alloc_event[id]), s.expandable[id] ? 1 : s.bytes[id]);
  }
  if (pools.empty()) return {};
  for (uint32_t id = 0; id < a.size(); ++id) {
    const trace::SegmentId segment = a.segment[id];
    if (!segment.valid() || s.mempool[segment.value] == 0) continue;
    add(s.mempool[segment.value], trace.events.StackOf(a.alloc_event[id]), a.bytes_rounded[id]);
  }
  std::vector<PoolOwner> out;
  for (const auto& [mempool, sums] : pools) {
    PoolOwner owner{.device = trace::OnlyDevice(trace),
                    .mempool = mempool,
                    .name = NameOf(sums, mempool),
                    .site = {}};
    uint64_t most = 0;
    for (const auto& [stack, bytes] : sums.stacks) {
      if (bytes < most || (bytes == most && stack > owner.site.stack.value)) continue;
      most = bytes;
      owner.site.stack = {stack};
    }
    owner.site.name = StackName(trace, owner.site.stack);
    out.push_back(std::move(owner));
  }
  return out;
}

std::string PoolId(uint32_t mempool) {
  return fmt::format("{}.{}", mempool >> 16, mempool & 0xffff);
}

}  // namespace vramscope::explain
