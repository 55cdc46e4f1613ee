// A store of descriptors for cuDNN's graph interface. Attributes are read back as they were set. A
// graph has the engines of cudnn_engines.h. A descriptor keeps the descriptors that it links alive.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulated/core/kernels.h"
#include "emulated/libraries/cudnn_sizes.h"

namespace vramscope::emulated::cudnn {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed8 = 2,
  kBadParam8 = 3,  // numbers in cuDNN 8
  kBadParam9 = 2000,
  kNotSupported8 = 9,
  kNotSupported9 = 3000,
  kExecutionFailed8 = 8,
  kExecutionFailed9 = 5000,
};
int BadParameter();  // "bad parameter" in this major version of cuDNN
int NotSupported();
int ExecutionFailed();

struct Handle {
  void* stream = nullptr;
};

// The documented numbers of the descriptors and attributes that these files use.
enum DescriptorType : int {
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kPointwise = 13,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 19,
  kReduction = 22,
  kNormForward = 29,
  kNormBackward = 30,
  kAttentionForward = 41,
  kAttentionBackward = 43,
};

struct Value {
  int type = 0;  // cudnnBackendAttributeType_t
  std::vector<char> bytes;
};
struct Descriptor;
using Link = std::shared_ptr<const Descriptor>;
struct Descriptor {
  int type = 0;
  bool finalized = false;
  std::map<int, Value> values;
  std::map<int, std::vector<Link>> links;

  template <class T>
  std::vector<T> All(int attribute) const;
  int64_t Number(int attribute, int64_t otherwise) const;
  const Descriptor* Linked(int attribute) const;  // the first linked descriptor; null: none
};

template <class T>
std::vector<T> Descriptor::All(int attribute) const {
  const auto found = values.find(attribute);
  if (found == values.end()) return {};
  std::vector<T> all(found->second.bytes.size() / sizeof(T));
  if (!all.empty())
    __builtin_memcpy(all.data(), found->second.bytes.data(), all.size() * sizeof(T));
  return all;
}

// An engine of a graph. EnginesOf returns all of them, best first.
struct Engine {
  uint64_t workspace_bytes = 0;
  bool tensor_cores = false;
  std::string assumed;  // which parts are guesses; empty: none
};
std::vector<Engine> EnginesOf(const Descriptor& graph);

// The work of one execution of a graph.
struct GraphWork {
  std::string name;
  double flops = 0;
  uint64_t bytes = 0;
  Precision precision = Precision::kFp32;
  // Set for convolutions and attention. Other durations come from a roofline.
  int64_t duration_ns = -1;
  std::map<int64_t, uint64_t> written;  // unique id of a tensor -> bytes
};
GraphWork WorkOf(const Descriptor& graph, const Engine& engine);

Shape ShapeOf(const Descriptor* tensor);

}  // namespace vramscope::emulated::cudnn
