// Implements CUDA graphs. They are created by capture or node by node, then instantiated and
// launched.
#include <cstdio>
#include <cstring>
#include <vector>

#include "emulated/core/durations.h"
#include "emulated/runtime/status.h"

namespace vramscope::emulated::runtime {
namespace {

// Returns the value of cudaGraphNodeType.
int TypeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kKernel:
      return 0;
    case NodeKind::kCopy:
      return 1;
    case NodeKind::kFill:
      return 2;
    case NodeKind::kHost:
      return 3;
    case NodeKind::kGraph:
      return 4;
    case NodeKind::kEmpty:
      return 5;
    case NodeKind::kEventWait:
      return 6;
    case NodeKind::kEventRecord:
      return 7;
  }
  return 5;
}

// Returns the list `all` as CUDA's functions do: *count is the length of the array `nodes`, and is
// then set to the number of nodes returned. The rest of the array is set to null. If `nodes` is
// null, only sets *count to the length of the list.
Error GiveList(const std::vector<void*>& all, void** nodes, size_t* count) {
  if (count == nullptr) {
    return Done(Result::kInvalidValue);
  }
  if (nodes == nullptr) {
    *count = all.size();
    return Done(Result::kSuccess);
  }
  const size_t room = *count;
  for (size_t i = 0; i < room; ++i) {
    nodes[i] = i < all.size() ? all[i] : nullptr;
  }
  *count = std::min(room, all.size());
  return Done(Result::kSuccess);
}

Error AddNode(void** node, void* graph, void* const* after, size_t count, Node work) {
  if (node == nullptr || (after == nullptr && count > 0)) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().streams.AddNode(graph, std::move(work),
                                            std::vector<void*>(after, after + count), node));
}

Error Instantiate(void** executable, void* graph) {
  if (executable == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().streams.Instantiate(graph, executable));
}

Error Dependencies(void* node, void** nodes, size_t* count) {
  std::vector<void*> all;
  if (const Result result = ThePlatform().streams.DependenciesOf(node, &all);
      result != Result::kSuccess) {
    return Done(result);
  }
  return GiveList(all, nodes, count);
}

}  // namespace
}  // namespace vramscope::emulated::runtime

using namespace vramscope::emulated;           // NOLINT: C functions follow
using namespace vramscope::emulated::runtime;  // NOLINT

extern "C" {

Error cudaGraphCreate(void** graph, unsigned) {
  if (graph == nullptr) {
    return Done(Result::kInvalidValue);
  }
  *graph = ThePlatform().streams.CreateGraph();
  return Done(Result::kSuccess);
}
Error cudaGraphDestroy(void* graph) { return Done(ThePlatform().streams.DestroyGraph(graph)); }

#if VRAMSCOPE_CUDART == 11
Error cudaGraphInstantiate(void** executable, void* graph, void** error_node, char* log,
                           size_t log_bytes) {
  if (error_node != nullptr) {
    *error_node = nullptr;
  }
  if (log != nullptr && log_bytes > 0) {
    *log = 0;
  }
  return Instantiate(executable, graph);
}
#else
Error cudaGraphInstantiate(void** executable, void* graph, unsigned long long) {
  return Instantiate(executable, graph);
}
Error cudaGraphInstantiateWithParams(void** executable, void* graph,
                                     GraphInstantiateParameters* parameters) {
  if (parameters != nullptr) {
    parameters->errNode_out = nullptr;
    parameters->result_out = 0;
  }
  return Instantiate(executable, graph);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaGraphInstantiateWithParams)
#endif
Error cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return Instantiate(executable, graph);
}
Error cudaGraphExecDestroy(void* executable) {
  return Done(ThePlatform().streams.DestroyExecutable(executable));
}
Error cudaGraphLaunch(void* executable, void* stream) {
  return Done(ThePlatform().streams.LaunchGraph(executable, stream));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaGraphLaunch)
Error cudaGraphUpload(void*, void*) { return Done(Result::kSuccess); }
VRAMSCOPE_PER_THREAD_STREAM(cudaGraphUpload)

Error cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  std::vector<void*> all;
  if (const Result result = ThePlatform().streams.NodesOf(graph, &all);
      result != Result::kSuccess) {
    return Done(result);
  }
  return GiveList(all, nodes, count);
}
Error cudaGraphGetRootNodes(void* graph, void** nodes, size_t* count) {
  std::vector<void*> all, roots;
  Streams& streams = ThePlatform().streams;
  if (const Result result = streams.NodesOf(graph, &all); result != Result::kSuccess) {
    return Done(result);
  }
  for (void* node : all) {
    std::vector<void*> after;
    streams.DependenciesOf(node, &after);
    if (after.empty()) {
      roots.push_back(node);
    }
  }
  return GiveList(roots, nodes, count);
}
Error cudaGraphNodeGetType(void* node, int* type) {
  NodeKind kind = NodeKind::kEmpty;
  const Result result = ThePlatform().streams.KindOf(node, &kind);
  *type = TypeOf(kind);
  return Done(result);
}
#if VRAMSCOPE_CUDART == 13
Error cudaGraphNodeGetDependencies(void* node, void** nodes, GraphEdgeData* edges, size_t* count) {
  const Error error = Dependencies(node, nodes, count);
  if (error == 0 && edges != nullptr && nodes != nullptr) {
    std::memset(edges, 0, *count * sizeof *edges);
  }
  return error;
}
#else
Error cudaGraphNodeGetDependencies(void* node, void** nodes, size_t* count) {
  return Dependencies(node, nodes, count);
}
#endif
#if VRAMSCOPE_CUDART == 12
Error cudaGraphNodeGetDependencies_v2(void* node, void** nodes, GraphEdgeData* edges,
                                      size_t* count) {
  const Error error = Dependencies(node, nodes, count);
  if (error == 0 && edges != nullptr && nodes != nullptr) {
    std::memset(edges, 0, *count * sizeof *edges);
  }
  return error;
}
#endif

Error cudaGraphAddEmptyNode(void** node, void* graph, void* const* after, size_t count) {
  return AddNode(node, graph, after, count, {.kind = NodeKind::kEmpty});
}
Error cudaGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                             const KernelNodeParameters* p) {
  if (p == nullptr) {
    return Done(Result::kInvalidValue);
  }
  const Dim &g = p->gridDim, &b = p->blockDim;
  Node work{.kind = NodeKind::kKernel};
  work.duration_ns = KernelDuration(ThePlatform().gpus[CurrentDevice()], uint64_t{g.x} * g.y * g.z,
                                    uint64_t{b.x} * b.y * b.z);
  work.activity.name = FactsOf(p->func).name;
  work.activity.grid = g;
  work.activity.block = b;
  return AddNode(node, graph, after, count, std::move(work));
}
Error cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* after, size_t count, void* to,
                               const void* from, size_t bytes, int) {
  Node work{.kind = NodeKind::kCopy};
  work.duration_ns = CopyDuration(ThePlatform().gpus[CurrentDevice()], bytes, CopyPath::kOnGpu);
  work.activity.kind = ActivityKind::kCopy;
  work.activity.bytes = bytes;
  work.effect = [=] { CopyBytes(to, from, bytes); };
  return AddNode(node, graph, after, count, std::move(work));
}
Error cudaGraphAddMemsetNode(void** node, void* graph, void* const* after, size_t count,
                             const MemsetParameters* p) {
  if (p == nullptr) {
    return Done(Result::kInvalidValue);
  }
  Node work{.kind = NodeKind::kFill};
  work.activity.kind = ActivityKind::kFill;
  work.activity.bytes = p->width * p->height * p->elementSize;
  work.duration_ns = FillDuration(ThePlatform().gpus[CurrentDevice()], work.activity.bytes);
  work.effect = [at = reinterpret_cast<uint64_t>(p->dst), bytes = work.activity.bytes] {
    ThePlatform().host_bytes.Overwritten(at, bytes);
  };
  return AddNode(node, graph, after, count, std::move(work));
}
Error cudaGraphAddHostNode(void** node, void* graph, void* const* after, size_t count,
                           const HostNodeParameters* p) {
  if (p == nullptr || p->fn == nullptr) {
    return Done(Result::kInvalidValue);
  }
  Node work{.kind = NodeKind::kHost};
  work.effect = [function = p->fn, argument = p->userData] { function(argument); };
  return AddNode(node, graph, after, count, std::move(work));
}
Error cudaGraphClone(void** clone, void* graph) {
  if (clone == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().streams.CloneGraph(graph, clone));
}
#if VRAMSCOPE_CUDART == 11
Error cudaGraphExecUpdate(void* executable, void* graph, void** error_node, int* update) {
  if (error_node != nullptr) {
    *error_node = nullptr;
  }
  if (update != nullptr) {
    *update = 0;  // success
  }
  return Done(ThePlatform().streams.UpdateExecutable(executable, graph));
}
#else
Error cudaGraphExecUpdate(void* executable, void* graph, GraphUpdateResult* update) {
  if (update != nullptr) {
    *update = {};
  }
  return Done(ThePlatform().streams.UpdateExecutable(executable, graph));
}
#endif
Error cudaGraphAddChildGraphNode(void** node, void* graph, void* const* after, size_t count,
                                 void* child) {
  if (node == nullptr || (after == nullptr && count > 0)) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().streams.AddChildGraph(graph, child,
                                                  std::vector<void*>(after, after + count), node));
}
Error cudaGraphDebugDotPrint(void* graph, const char* path, unsigned) {
  std::vector<void*> nodes;
  Streams& streams = ThePlatform().streams;
  if (const Result result = streams.NodesOf(graph, &nodes); result != Result::kSuccess) {
    return Done(result);
  }
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr) {
    return Done(Result::kInvalidValue);
  }
  std::fputs("digraph dot {\n", file);
  for (void* node : nodes) {
    std::fprintf(file, "  \"%p\";\n", node);
    std::vector<void*> after;
    streams.DependenciesOf(node, &after);
    for (void* earlier : after) {
      std::fprintf(file, "  \"%p\" -> \"%p\";\n", earlier, node);
    }
  }
  std::fputs("}\n", file);
  return Done(std::fclose(file) == 0 ? Result::kSuccess : Result::kUnknown);
}

Error cudaUserObjectCreate(void** object, void*, void (*)(void*), unsigned, unsigned) {
  static char here;
  *object = &here;  // the same handle for all user objects, which are never destroyed
  return Done(Result::kSuccess);
}
Error cudaUserObjectRetain(void*, unsigned) { return Done(Result::kSuccess); }
Error cudaUserObjectRelease(void*, unsigned) { return Done(Result::kSuccess); }
Error cudaGraphRetainUserObject(void*, void*, unsigned, unsigned) { return Done(Result::kSuccess); }
Error cudaGraphReleaseUserObject(void*, void*, unsigned) { return Done(Result::kSuccess); }

}  // extern "C"
