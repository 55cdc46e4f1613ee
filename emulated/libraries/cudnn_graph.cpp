// Implements libcudnn's graph interface (cudnnBackend...), which is the same in cuDNN 8 and 9.
#include "emulated/libraries/cudnn_graph.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulated/core/platform.h"
#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cudnn {

int BadParameter() { return VRAMSCOPE_EMULATED_CUDNN >= 9 ? kBadParam9 : kBadParam8; }
int NotSupported() { return VRAMSCOPE_EMULATED_CUDNN >= 9 ? kNotSupported9 : kNotSupported8; }
int ExecutionFailed() {
  return VRAMSCOPE_EMULATED_CUDNN >= 9 ? kExecutionFailed9 : kExecutionFailed8;
}

namespace {

constexpr int64_t kMostElements = 1 << 20;
constexpr int kDescriptorValue = 15;  // attribute type: handles of descriptors
// Attributes with special results.
enum : int {
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kConfigIntermediate = 301,
  kConfigKnobs = 302,
  kConfigWorkspace = 303,
  kConfigShared = 304,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanIntermediate = 403,
  kPlanRunOnly = 404,
  kPlanJson = 405,
  kGraphEngineCount = 802,
  kPackIds = 1000,
  kPackPointers = 1001,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineKnobs = 1302,
  kEngineNumericalNotes = 1303,
  kEngineLayout = 1304,
  kEngineBehaviorNotes = 1305,
};

size_t SizeOf(int type) {
  switch (type) {
    case 0:
    case 3:
    case 5:
    case 6:
    case kDescriptorValue:
    case 26:
      return 8;  // handle, int64, double, pointer, fraction
    case 2:
    case 24:
      return 1;  // boolean, char
    default:
      return 4;
  }
}

struct Registry {
  std::mutex mutex;
  std::unordered_map<void*, std::shared_ptr<Descriptor>> all;
};
Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}
std::shared_ptr<Descriptor> Find(void* handle) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto found = registry.all.find(handle);
  return found == registry.all.end() ? nullptr : found->second;
}

// Returns whether `one` keeps `other` alive, directly or through further descriptors. If two
// descriptors kept each other alive, they would never be freed.
bool Keeps(const Descriptor* one, const Descriptor* other) {
  std::vector<const Descriptor*> left = {one};
  std::set<const Descriptor*> seen;
  while (!left.empty()) {
    const Descriptor* const next = left.back();
    left.pop_back();
    if (next == other) return true;
    if (!seen.insert(next).second) continue;
    for (const auto& [attribute, links] : next->links)
      for (const Link& link : links)
        if (link) left.push_back(link.get());
  }
  return false;
}

const Descriptor* GraphOfEngine(const Descriptor* engine) {
  return engine ? engine->Linked(kEngineGraph) : nullptr;
}
const Descriptor* EngineOfConfig(const Descriptor* config) {
  return config ? config->Linked(kConfigEngine) : nullptr;
}

// Finds the engine of a configuration, or of a plan that contains a configuration.
bool Resolve(const Descriptor* config, const Descriptor** graph, Engine* engine) {
  const Descriptor* chosen = EngineOfConfig(config);
  *graph = GraphOfEngine(chosen);
  if (!*graph) return false;
  const std::vector<Engine> engines = EnginesOf(**graph);
  const int64_t index = chosen->Number(kEngineIndex, 0);
  if (index < 0 || index >= static_cast<int64_t>(engines.size())) return false;
  *engine = engines[static_cast<size_t>(index)];
  return true;
}

Link MakeConfig(const Link& graph, int64_t index) {
  auto engine = std::make_shared<Descriptor>();
  engine->type = kEngine;
  engine->finalized = true;
  engine->links[kEngineGraph] = {graph};
  Value number{.type = 3, .bytes = std::vector<char>(sizeof index)};
  std::memcpy(number.bytes.data(), &index, sizeof index);
  engine->values[kEngineIndex] = number;
  auto config = std::make_shared<Descriptor>();
  config->type = kEngineConfig;
  config->finalized = true;
  config->links[kConfigEngine] = {engine};
  return config;
}

class Answer {
 public:
  Answer(int type, int64_t wanted, int64_t* count, void* out)
      : type_(type), wanted_(wanted), count_(count), out_(out) {}

  int None() const {
    if (count_) *count_ = 0;
    return kSuccess;
  }
  int Number(int64_t value) const {
    if (count_) *count_ = 1;
    if (out_ && wanted_ > 0) std::memcpy(out_, &value, std::min(SizeOf(type_), sizeof value));
    return kSuccess;
  }
  int Text(const std::string& text) const {
    if (count_) *count_ = static_cast<int64_t>(text.size());
    if (out_ && wanted_ > 0)
      std::memcpy(out_, text.data(), std::min<size_t>(text.size(), static_cast<size_t>(wanted_)));
    return kSuccess;
  }
  int Bytes(const Value& value) const {
    const auto has = static_cast<int64_t>(value.bytes.size() / SizeOf(value.type));
    if (count_) *count_ = has;
    // Copies only the bytes that fit, because the value may have been set with another type.
    if (out_ && wanted_ > 0 && has > 0)
      std::memcpy(out_, value.bytes.data(),
                  std::min(value.bytes.size(), static_cast<size_t>(wanted_) * SizeOf(type_)));
    return kSuccess;
  }
  // Copies the requested descriptors into the descriptors that the program passes. `links` is
  // passed by value, because one of the program's descriptors may contain the original.
  int Descriptors(std::vector<Link> links) const {
    if (count_) *count_ = static_cast<int64_t>(links.size());
    if (!out_) return kSuccess;
    if (type_ != kDescriptorValue) return BadParameter();
    const auto fits =
        std::min<size_t>(links.size(), static_cast<size_t>(std::max<int64_t>(wanted_, 0)));
    if (count_) *count_ = static_cast<int64_t>(fits);  // programs allocate this many descriptors
    for (size_t i = 0; i < fits; ++i) {
      const std::shared_ptr<Descriptor> target = Find(static_cast<void**>(out_)[i]);
      if (!target) return BadParameter();
      if (!links[i] || target == links[i]) continue;
      if (Keeps(links[i].get(), target.get())) return BadParameter();
      *target = *links[i];
    }
    return kSuccess;
  }

 private:
  int type_;
  int64_t wanted_;
  int64_t* count_;
  void* out_;
};

std::vector<Link> Configs(const Descriptor& heuristics) {
  const auto found = heuristics.links.find(kHeuristicsGraph);
  if (found == heuristics.links.end() || found->second.empty()) return {};
  std::vector<Link> configs;
  const size_t engines = EnginesOf(*found->second.front()).size();
  for (size_t i = 0; i < engines; ++i)
    configs.push_back(MakeConfig(found->second.front(), static_cast<int64_t>(i)));
  return configs;
}

int Get(const Descriptor& descriptor, int attribute, const Answer& answer) {
  const Descriptor* graph = nullptr;
  Engine engine;
  switch (attribute) {
    case kHeuristicsResults:
      return answer.Descriptors(Configs(descriptor));
    case kGraphEngineCount:
      return answer.Number(static_cast<int64_t>(EnginesOf(descriptor).size()));
    case kConfigKnobs:
    case kConfigIntermediate:
    case kEngineKnobs:
    case kEngineBehaviorNotes:
    case kEngineLayout:
    case kPlanIntermediate:
    case kPlanRunOnly:
      if (descriptor.links.contains(attribute))
        return answer.Descriptors(descriptor.links.at(attribute));
      return answer.None();
    case kEngineNumericalNotes: {
      graph = GraphOfEngine(&descriptor);
      const std::vector<Engine> engines = graph ? EnginesOf(*graph) : std::vector<Engine>();
      const auto index = static_cast<size_t>(descriptor.Number(kEngineIndex, 0));
      return index < engines.size() && engines[index].tensor_cores
                 ? answer.Number(0 /* tensor cores */)
                 : answer.None();
    }
    case kEngineIndex:
      if (!descriptor.values.contains(attribute)) return answer.Number(0);
      break;
    case kConfigWorkspace:
      return Resolve(&descriptor, &graph, &engine)
                 ? answer.Number(static_cast<int64_t>(engine.workspace_bytes))
                 : NotSupported();
    case kConfigShared:
      return answer.Number(0);
    case kPlanWorkspace: {
      if (!Resolve(descriptor.Linked(kPlanConfig), &graph, &engine)) return NotSupported();
      if (!engine.assumed.empty())
        Assume(engine.assumed, "cudnnBackendGetAttribute", engine.workspace_bytes);
      return answer.Number(static_cast<int64_t>(engine.workspace_bytes));
    }
    case kPlanJson:
      return answer.Text("{}");
    default:
      break;
  }
  if (const auto links = descriptor.links.find(attribute); links != descriptor.links.end())
    return answer.Descriptors(links->second);
  if (const auto value = descriptor.values.find(attribute); value != descriptor.values.end())
    return answer.Bytes(value->second);
  Log("cudnnBackendGetAttribute: attribute %d of a descriptor of type %d was read but not set",
      attribute, descriptor.type);
  return answer.None();
}

}  // namespace
}  // namespace vramscope::emulated::cudnn

using namespace vramscope::emulated;
using namespace vramscope::emulated::cudnn;

extern "C" {

int cudnnBackendCreateDescriptor(int type, void** handle) {
  if (!handle) return BadParameter();
  auto descriptor = std::make_shared<Descriptor>();
  descriptor->type = type;
  *handle = descriptor.get();
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.all[*handle] = std::move(descriptor);
  return kSuccess;
}
int cudnnBackendDestroyDescriptor(void* handle) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.all.erase(handle);
  return kSuccess;
}
int cudnnBackendInitialize(void* handle) { return Find(handle) ? kSuccess : BadParameter(); }

int cudnnBackendSetAttribute(void* handle, int attribute, int type, int64_t count,
                             const void* values) {
  const std::shared_ptr<Descriptor> descriptor = Find(handle);
  if (!descriptor || count < 0 || count > kMostElements || (count && !values))
    return BadParameter();
  if (type == kDescriptorValue) {
    std::vector<Link> links;
    for (int64_t i = 0; i < count; ++i) {
      std::shared_ptr<Descriptor> linked = Find(static_cast<void* const*>(values)[i]);
      if (!linked || Keeps(linked.get(), descriptor.get())) return BadParameter();
      links.push_back(std::move(linked));
    }
    descriptor->links[attribute] = std::move(links);
    return kSuccess;
  }
  const auto* first = static_cast<const char*>(values);
  Value value{.type = type, .bytes = {}};
  if (count) value.bytes.assign(first, first + static_cast<size_t>(count) * SizeOf(type));
  descriptor->values[attribute] = std::move(value);
  return kSuccess;
}

int cudnnBackendGetAttribute(void* handle, int attribute, int type, int64_t wanted, int64_t* count,
                             void* out) {
  const std::shared_ptr<Descriptor> descriptor = Find(handle);
  if (!descriptor) return BadParameter();
  return Get(*descriptor, attribute, Answer(type, wanted, count, out));
}

int cudnnBackendFinalize(void* handle) {
  const std::shared_ptr<Descriptor> descriptor = Find(handle);
  if (!descriptor) return BadParameter();
  const Descriptor* graph = nullptr;
  Engine engine;
  // Refuses an engine index that the graph does not have, because programs try one index after the
  // other.
  if (descriptor->type == kEngine && descriptor->links.contains(kEngineGraph)) {
    const Descriptor* of = descriptor->Linked(kEngineGraph);
    const int64_t index = descriptor->Number(kEngineIndex, 0);
    if (!of || index < 0 || index >= static_cast<int64_t>(EnginesOf(*of).size()))
      return NotSupported();
  }
  if (descriptor->type == kPlan && descriptor->links.contains(kPlanConfig) &&
      !Resolve(descriptor->Linked(kPlanConfig), &graph, &engine))
    return NotSupported();
  descriptor->finalized = true;
  return kSuccess;
}

int cudnnBackendExecute(Handle* handle, void* plan_handle, void* pack_handle) {
  const std::shared_ptr<Descriptor> plan = Find(plan_handle), pack = Find(pack_handle);
  if (!handle || !plan || !pack) return BadParameter();
  const Descriptor* graph = nullptr;
  Engine engine;
  if (!Resolve(plan->Linked(kPlanConfig), &graph, &engine)) return ExecutionFailed();
  const GraphWork work = WorkOf(*graph, engine);
  const std::vector<int64_t> ids = pack->All<int64_t>(kPackIds);
  const std::vector<void*> pointers = pack->All<void*>(kPackPointers);
  std::vector<Written> writes;
  std::vector<const void*> reads;
  for (size_t i = 0; i < std::min(ids.size(), pointers.size()); ++i)
    if (const auto found = work.written.find(ids[i]); found == work.written.end())
      reads.push_back(pointers[i]);
    else if (pointers[i])
      writes.push_back({pointers[i], found->second});
  return Submit({.name = work.name.c_str(),
                 .stream = handle->stream,
                 .flops = work.flops,
                 .precision = work.precision,
                 .bytes = work.bytes,
                 .reads = reads,
                 .writes = writes,
                 .duration_ns = work.duration_ns}) == Result::kSuccess
             ? kSuccess
             : ExecutionFailed();
}
int cudnnBackendPopulateCudaGraph(Handle* handle, void* plan, void* pack, void*) {
  return cudnnBackendExecute(handle, plan, pack);
}
int cudnnBackendUpdateCudaGraph(Handle*, void*, void*, void*) { return kSuccess; }

}  // extern "C"
