// Implements stream capture and graphs: the functions of Streams that capture work and replay it.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {
namespace {

thread_local CaptureMode thread_mode = CaptureMode::kGlobal;
thread_local int thread_captures = 0;  // captures begun by this thread

}  // namespace

Node* Graph::Add(Node node, void* handle) {
  node.handle = handle;
  nodes.push_back(std::make_unique<Node>(std::move(node)));
  return nodes.back().get();
}

int64_t Graph::Duration() const {
  int64_t duration = 0;
  for (const auto& node : nodes) {
    duration += node->duration_ns;
  }
  return duration;
}

const Node* Streams::FindNode(void* node) const {
  const auto it = nodes_.find(node);
  return it == nodes_.end() ? nullptr : it->second;
}

CaptureMode Streams::ExchangeMode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

Result Streams::Permitted() const {
  std::lock_guard lock(mutex_);
  switch (thread_mode) {
    case CaptureMode::kGlobal:
      return global_captures_ > 0 || thread_captures > 0 ? Result::kCaptureUnsupported
                                                         : Result::kSuccess;
    case CaptureMode::kThreadLocal:
      return thread_captures > 0 ? Result::kCaptureUnsupported : Result::kSuccess;
    case CaptureMode::kRelaxed:
      break;
  }
  return Result::kSuccess;
}

Result Streams::BeginCapture(void* stream, CaptureMode mode, void* into_graph) {
  std::lock_guard lock(mutex_);
  Stream* found = Find(stream);
  if (found == nullptr || (into_graph != nullptr && !graphs_.contains(into_graph))) {
    return Result::kInvalidHandle;
  }
  if (reinterpret_cast<uint64_t>(stream) <= 1) {
    return Result::kCaptureUnsupported;  // the legacy stream
  }
  if (found->capture != nullptr) {
    return Result::kCaptureUnmatched;
  }
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture_++;
  capture->origin = stream;
  capture->mode = mode;
  capture->owns_graph = into_graph == nullptr;
  capture->graph = into_graph;
  if (into_graph == nullptr) {
    capture->graph = reinterpret_cast<void*>(kFirstGraph + next_graph_++ * kApart);
    graphs_[capture->graph] = std::make_shared<Graph>();
  }
  found->capture = std::move(capture);
  found->last.clear();
  ++captures_;
  global_captures_ += mode == CaptureMode::kGlobal;
  thread_captures += mode != CaptureMode::kRelaxed;
  return Result::kSuccess;
}

Result Streams::EndCapture(void* stream, void** graph) {
  std::lock_guard lock(mutex_);
  *graph = nullptr;
  Stream* found = Find(stream);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  const std::shared_ptr<Capture> capture = found->capture;
  if (capture == nullptr) {
    return Result::kInvalidValue;
  }
  if (capture->origin != stream) {
    return Result::kCaptureUnmatched;
  }
  const auto leave = [&](Stream* left) {
    if (left->capture == capture) {
      left->capture.reset();
      left->last.clear();
    }
  };
  for (auto& [handle, other] : streams_) {
    leave(other.get());
  }
  for (Stream& other : defaults_) {
    leave(&other);
  }
  capture->ended = true;
  --captures_;
  global_captures_ -= capture->mode == CaptureMode::kGlobal;
  if (capture->mode != CaptureMode::kRelaxed && thread_captures > 0) {
    --thread_captures;
  }
  if (capture->invalidated) {
    if (capture->owns_graph) {
      graphs_.erase(capture->graph);
    }
    return Result::kCaptureInvalidated;
  }
  *graph = capture->graph;
  return Result::kSuccess;
}

Result Streams::CaptureOf(void* stream, CaptureFacts* facts) const {
  std::lock_guard lock(mutex_);
  *facts = {};
  const Stream* found = Find(stream);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  if (found->capture == nullptr) {
    return Result::kSuccess;
  }
  facts->capturing = true;
  facts->invalidated = found->capture->invalidated;
  facts->id = found->capture->id;
  facts->graph = found->capture->graph;
  for (const Node* node : found->last) {
    facts->after.push_back(node->handle);
  }
  return Result::kSuccess;
}

Result Streams::SetCaptureDependencies(void* stream, const std::vector<void*>& nodes, bool add) {
  std::lock_guard lock(mutex_);
  Stream* found = Find(stream);
  if (found == nullptr || found->capture == nullptr) {
    return Result::kInvalidHandle;
  }
  std::vector<const Node*> last;
  for (void* handle : nodes) {
    const Node* node = FindNode(handle);
    if (node == nullptr) {
      return Result::kInvalidValue;
    }
    last.push_back(node);
  }
  if (!add) {
    found->last.clear();
  }
  found->last.insert(found->last.end(), last.begin(), last.end());
  return Result::kSuccess;
}

void* Streams::CreateGraph() {
  std::lock_guard lock(mutex_);
  void* handle = reinterpret_cast<void*>(kFirstGraph + next_graph_++ * kApart);
  graphs_[handle] = std::make_shared<Graph>();
  return handle;
}

Result Streams::DestroyGraph(void* graph) {
  std::lock_guard lock(mutex_);
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) {
    return Result::kInvalidHandle;
  }
  for (const auto& node : it->second->nodes) {
    nodes_.erase(node->handle);
  }
  graphs_.erase(it);  // executable graphs made from this graph keep its nodes
  return Result::kSuccess;
}

Result Streams::AddNode(void* graph, Node node, const std::vector<void*>& after, void** handle) {
  std::lock_guard lock(mutex_);
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) {
    return Result::kInvalidHandle;
  }
  for (void* earlier : after) {
    const Node* found = FindNode(earlier);
    if (found == nullptr) {
      return Result::kInvalidValue;
    }
    node.after.push_back(found);
  }
  *handle = reinterpret_cast<void*>(kFirstNode + next_node_++ * kApart);
  nodes_[*handle] = it->second->Add(std::move(node), *handle);
  return Result::kSuccess;
}

Result Streams::NodesOf(void* graph, std::vector<void*>* nodes) const {
  std::lock_guard lock(mutex_);
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) {
    return Result::kInvalidHandle;
  }
  for (const auto& node : it->second->nodes) {
    nodes->push_back(node->handle);
  }
  return Result::kSuccess;
}

Result Streams::DependenciesOf(void* node, std::vector<void*>* after) const {
  std::lock_guard lock(mutex_);
  const Node* found = FindNode(node);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  for (const Node* earlier : found->after) {
    after->push_back(earlier->handle);
  }
  return Result::kSuccess;
}

Result Streams::KindOf(void* node, NodeKind* kind) const {
  std::lock_guard lock(mutex_);
  const Node* found = FindNode(node);
  if (found == nullptr) {
    return Result::kInvalidHandle;
  }
  *kind = found->kind;
  return Result::kSuccess;
}

Result Streams::Instantiate(void* graph, void** executable) {
  std::lock_guard lock(mutex_);
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) {
    return Result::kInvalidHandle;
  }
  *executable = reinterpret_cast<void*>(kFirstGraph + next_graph_++ * kApart);
  executables_[*executable] = it->second;
  return Result::kSuccess;
}

Result Streams::DestroyExecutable(void* executable) {
  std::lock_guard lock(mutex_);
  return executables_.erase(executable) == 1 ? Result::kSuccess : Result::kInvalidHandle;
}

Result Streams::UpdateExecutable(void* executable, void* graph) {
  std::lock_guard lock(mutex_);
  const auto to = executables_.find(executable);
  const auto from = graphs_.find(graph);
  if (to == executables_.end() || from == graphs_.end()) {
    return Result::kInvalidHandle;
  }
  to->second = from->second;
  return Result::kSuccess;
}

std::shared_ptr<Graph> Streams::CopyLocked(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  std::unordered_map<const Node*, const Node*> copies;
  for (const auto& original : graph.nodes) {
    Node node = *original;
    std::erase_if(node.after, [&](const Node* earlier) { return !copies.contains(earlier); });
    for (const Node*& earlier : node.after) {
      earlier = copies.at(earlier);
    }
    void* handle = reinterpret_cast<void*>(kFirstNode + next_node_++ * kApart);
    copies[original.get()] = copy->Add(std::move(node), handle);
  }
  return copy;
}

Result Streams::CloneGraph(void* graph, void** clone) {
  std::lock_guard lock(mutex_);
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) {
    return Result::kInvalidHandle;
  }
  *clone = reinterpret_cast<void*>(kFirstGraph + next_graph_++ * kApart);
  const std::shared_ptr<Graph> copy = CopyLocked(*it->second);
  for (const auto& node : copy->nodes) {
    nodes_[node->handle] = node.get();
  }
  graphs_[*clone] = copy;
  return Result::kSuccess;
}

Result Streams::AddChildGraph(void* graph, void* child, const std::vector<void*>& after,
                              void** handle) {
  Node node{.kind = NodeKind::kGraph};
  {
    std::lock_guard lock(mutex_);
    const auto it = graphs_.find(child);
    if (it == graphs_.end()) {
      return Result::kInvalidHandle;
    }
    if (child == graph) {
      return Result::kInvalidValue;
    }
    // Copies the child graph, because nodes that are added to it later must not become part of this
    // node.
    node.child = CopyLocked(*it->second);
    node.duration_ns = node.child->Duration();
  }
  return AddNode(graph, std::move(node), after, handle);
}

// Runs the nodes of a launched graph in order. It holds no locks, because a host function may call
// CUDA.
struct Streams::Replay {
  StreamFacts facts;
  int64_t call_begin_ns = 0, call_end_ns = 0;
  int64_t start_ns = 0;  // start of the next node
  bool first = true;

  void Run(const Graph& graph) {
    for (const auto& node : graph.nodes) {
      if (node->child != nullptr) {
        Run(*node->child);
        continue;
      }
      if (node->effect) {
        node->effect();
      }
      if (Recorder* recorder = TheRecorder();
          recorder != nullptr && node->kind <= NodeKind::kFill) {
        Activity activity = node->activity;
        activity.operands = node->operands.data();
        activity.operand_count = static_cast<uint32_t>(node->operands.size());
        activity.device = facts.device;
        activity.stream = facts.id;
        activity.start_ns = start_ns;
        activity.end_ns = start_ns + node->duration_ns;
        activity.call = Call::kGraphLaunch;
        activity.first = std::exchange(first, false);
        activity.call_begin_ns = call_begin_ns;
        activity.call_end_ns = call_end_ns;
        recorder->OnWork(activity);
      }
      start_ns += node->duration_ns;
    }
  }
};

Result Streams::LaunchGraph(void* executable, void* stream) {
  std::shared_ptr<Graph> graph;
  Replay replay{.call_begin_ns = clock_->Submit(0)};  // as in Do()
  {
    std::lock_guard lock(mutex_);
    const auto it = executables_.find(executable);
    Stream* found = Find(stream);
    if (it == executables_.end() || found == nullptr) {
      return Result::kInvalidHandle;
    }
    graph = it->second;
    replay.facts = found->facts;
    if (found->capture != nullptr) {
      return CaptureLocked(
          found,
          {.kind = NodeKind::kGraph, .duration_ns = graph->Duration(), .child = std::move(graph)});
    }
    replay.start_ns = EnqueueLocked(found, graph->Duration()).start_ns;
  }
  replay.call_end_ns = clock_->now();
  replay.Run(*graph);
  return Result::kSuccess;
}

}  // namespace vramscope::emulated
