// A CUDA graph: its nodes, in the order in which they were captured or added, and their
// dependencies. Replaying a graph repeats its nodes as they were captured: work on the stream,
// small copies, calls of host functions.
//
// Built by one thread at a time; immutable once it is instantiated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "emulated/core/recorder.h"

namespace vramscope::emulated {

enum class NodeKind { kKernel, kCopy, kFill, kHost, kGraph, kEmpty, kEventWait, kEventRecord };

struct Graph;

struct Node {
  NodeKind kind = NodeKind::kEmpty;
  int64_t duration_ns = 0;
  Activity activity = {};  // kernel, memcpy, memset
  std::vector<Operand> operands = {};
  // Copies host-readable bytes, or calls the host function.
  std::function<void()> effect = {};
  std::shared_ptr<const Graph> child = {};  // of a kGraph node: the graph that is replayed
  std::vector<const Node*> after = {};
  void* handle = nullptr;  // the handle that programs use
};

// Handles are addresses at which nothing is mapped. They are far enough apart to look like pointers
// to objects.
inline constexpr uint64_t kFirstStream = uint64_t{0x0e1000000000};
inline constexpr uint64_t kFirstEvent = uint64_t{0x0e2000000000};
inline constexpr uint64_t kFirstGraph = uint64_t{0x0e3000000000};
inline constexpr uint64_t kFirstNode = uint64_t{0x0e4000000000};
inline constexpr uint64_t kApart = 0x100;

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  Node* Add(Node node, void* handle);
  int64_t Duration() const;  // sum over its nodes; branches are assumed not to overlap
};

}  // namespace vramscope::emulated
