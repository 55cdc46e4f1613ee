// Stream capture and graphs: the half of Streams that replays.
#include <algorithm>
#include <utility>

#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {
namespace {

thread_local CaptureMode thread_mode = CaptureMode::kGlobal;
thread_local int thread_captures = 0;  // that this thread began

}  // namespace

Node* Graph::Add(Node node, void* handle) {
  node.handle = handle;
  nodes.push_back(std::make_unique<Node>(std::move(node)));
  return nodes.back().get();
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

Result Streams::LookCapture(void* stream, CaptureFacts* facts) const {
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
  graphs_.erase(it);  // an executable made of it keeps the nodes
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

Result Streams::LaunchGraph(void* executable, void* stream) {
  std::shared_ptr<Graph> graph;
  StreamFacts facts;
  const int64_t call_begin = clock_->Submit(0);  // as in Do
  int64_t start = 0;
  {
    std::lock_guard lock(mutex_);
    const auto it = executables_.find(executable);
    Stream* found = Find(stream);
    if (it == executables_.end() || found == nullptr) {
      return Result::kInvalidHandle;
    }
    graph = it->second;
    facts = found->facts;
    int64_t duration = 0;
    for (const auto& node : graph->nodes) {
      duration += node->duration_ns;  // one after the other: branches of a graph are not overlapped
    }
    if (found->capture != nullptr) {
      return Result::kCaptureUnsupported;  // a graph within a graph: cudaGraphAddChildGraphNode
    }
    start = EnqueueLocked(found, duration).start_ns;
  }
  const int64_t call_end = clock_->now();
  bool first = true;
  // Without the lock: a host function may call CUDA.
  for (const auto& node : graph->nodes) {
    if (node->effect) {
      node->effect();
    }
    if (Recorder* recorder = TheRecorder(); recorder != nullptr && node->kind <= NodeKind::kFill) {
      Activity activity = node->activity;
      activity.operands = node->operands.data();
      activity.operand_count = static_cast<uint32_t>(node->operands.size());
      activity.device = facts.device;
      activity.stream = facts.id;
      activity.start_ns = start;
      activity.end_ns = start + node->duration_ns;
      activity.call = Call::kGraphLaunch;
      activity.first = first;
      activity.call_begin_ns = call_begin;
      activity.call_end_ns = call_end;
      first = false;
      recorder->OnWork(activity);
    }
    start += node->duration_ns;
  }
  return Result::kSuccess;
}

}  // namespace vramscope::emulated
