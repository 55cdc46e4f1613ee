// A CUDA graph: nodes in the order in which they were captured or added, with what each depends on.
// Replaying one does what its nodes did when they were captured: work on the stream, small copies,
// calls of host functions.
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
  Activity activity = {};  // kernel, copy, fill
  std::vector<Operand> operands = {};
  std::function<void()> effect = {};        // on bytes that the host may read, or the host function
  std::shared_ptr<const Graph> child = {};  // kGraph: replayed in its place
  std::vector<const Node*> after = {};
  void* handle = nullptr;  // what programs know it by
};

// Handles are numbers that no program maps anything at; apart enough to look like pointers to
// objects.
inline constexpr uint64_t kFirstStream = uint64_t{0x0e1000000000};
inline constexpr uint64_t kFirstEvent = uint64_t{0x0e2000000000};
inline constexpr uint64_t kFirstGraph = uint64_t{0x0e3000000000};
inline constexpr uint64_t kFirstNode = uint64_t{0x0e4000000000};
inline constexpr uint64_t kApart = 0x100;

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  Node* Add(Node node, void* handle);
  int64_t Duration() const;  // of its nodes one after the other: branches are not overlapped
};

}  // namespace vramscope::emulated
