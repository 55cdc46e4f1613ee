// Determines the cost of a graph's operations, and the engines that support the graph.
#include <algorithm>
#include <optional>
#include <set>

#include "emulated/core/platform.h"
#include "emulated/libraries/cudnn_graph.h"
#include "emulated/libraries/cudnn_times.h"
#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cudnn {
namespace {

constexpr int kGraphOperations = 801;
constexpr int kTensorType = 901, kTensorDims = 902, kTensorStrides = 903, kTensorId = 906,
              kTensorVirtual = 907;

// The attributes that name the tensors to which an operation writes.
constexpr int kWritten[] = {705,  710,  715,  753,  756,  773,  774,  788,  789,  790,  791,  792,
                            793,  1522, 1611, 1626, 1627, 1628, 1629, 1630, 1711, 1712, 1720, 1803,
                            1904, 1951, 2003, 2004, 2011, 2012, 2013, 2107, 2108, 2109, 2201, 2251,
                            2271, 2310, 2501, 2502, 2603, 2803, 2804, 2859, 2860, 2861, 2905};

bool IsWritten(int attribute) {
  return std::find(std::begin(kWritten), std::end(kWritten), attribute) != std::end(kWritten);
}

Convolution ConvolutionOf(const Descriptor& operation) {
  Convolution c;
  switch (operation.type) {
    case kConvolutionForward:
      c.kind = ConvolutionKind::kForward;
      c.image = ShapeOf(operation.Linked(704)), c.filter = ShapeOf(operation.Linked(703)),
      c.out = ShapeOf(operation.Linked(705));
      break;
    case kConvolutionBackwardData:
      c.kind = ConvolutionKind::kBackwardData;
      c.image = ShapeOf(operation.Linked(710)), c.filter = ShapeOf(operation.Linked(709)),
      c.out = ShapeOf(operation.Linked(711));
      break;
    default:
      c.kind = ConvolutionKind::kBackwardFilter;
      c.image = ShapeOf(operation.Linked(716)), c.filter = ShapeOf(operation.Linked(715)),
      c.out = ShapeOf(operation.Linked(717));
  }
  constexpr int kStrides = 103;
  const int of_convolution = operation.type == kConvolutionForward        ? 702
                             : operation.type == kConvolutionBackwardData ? 708
                                                                          : 714;
  if (const Descriptor* how = operation.Linked(of_convolution))
    for (const int64_t stride : how->All<int64_t>(kStrides)) c.stride = std::max(c.stride, stride);
  return c;
}
bool IsConvolution(int type) {
  return type == kConvolutionForward || type == kConvolutionBackwardData ||
         type == kConvolutionBackwardFilter;
}

double FlopsOf(const Descriptor& operation) {
  const auto elements = [&](int attribute) {
    return static_cast<double>(ShapeOf(operation.Linked(attribute)).elements());
  };
  const auto last = [&](int attribute, int back) {
    const Shape shape = ShapeOf(operation.Linked(attribute));
    return shape.count >= back ? static_cast<double>(Positive(shape.dims[shape.count - back]))
                               : 0.0;
  };
  if (IsConvolution(operation.type)) return ConvolutionFlops(ConvolutionOf(operation));
  switch (operation.type) {
    case kMatmul:
      return 2 * elements(1522) * last(1520, 1);
    case kPointwise:
      return elements(753) + elements(756);
    case kReduction:
      return elements(1610);
    case kNormForward:
      return 8 * elements(2002);
    case kNormBackward:
      return 12 * elements(2101);
    // Attention has two products of queries x keys x width in forward, and five in backward.
    case kAttentionForward:
      return 4 * elements(2800) * last(2801, 2);
    case kAttentionBackward:
      return 10 * elements(2851) * last(2852, 2);
    default:
      return 0;
  }
}

// Returns the attention that a graph computes. The graph has one operation for it (forward, since
// cuDNN 9.13) or several products and reductions.
std::optional<Attention> AttentionOf(const Descriptor& graph) {
  int products = 0;
  Attention made;
  const auto operations = graph.links.find(kGraphOperations);
  if (operations == graph.links.end()) return std::nullopt;
  for (const Link& operation : operations->second) {
    if (!operation) continue;
    const bool backward = operation->type == kAttentionBackward;
    if (backward || operation->type == kAttentionForward) {
      const int first = backward ? 2851 : 2800;
      return Attention{.backward = backward,
                       .query = ShapeOf(operation->Linked(first)),
                       .key = ShapeOf(operation->Linked(first + 1)),
                       .value = ShapeOf(operation->Linked(first + 2))};
    }
    products += operation->type == kMatmul;
    // If query heads share keys and values, their gradients are summed over the query heads.
    if (operation->type != kReduction) continue;
    const Shape heads = ShapeOf(operation->Linked(1610)), shared = ShapeOf(operation->Linked(1611));
    if (heads.count != 4 || shared.count != 4 || heads.dims[1] == shared.dims[1]) continue;
    made.query = heads;
    (made.key.count ? made.value : made.key) = shared;
  }
  if (products < 2) return std::nullopt;
  made.backward = products >= 4;
  return made;
}

std::string NameOf(const char* what, const Workspace& workspace) {
  return std::string(what) +
         (workspace.measured
              ? ", by rules that were derived from measurements on an H200 (cuDNN 9.19)"
              : "");
}

// Takes the numbers of queries and keys from the first product or from the attention operation. If
// row and column numbers are compared, the mask is causal.
AttentionWork DescribeAttention(const Descriptor& graph, const GraphWork& work) {
  constexpr int kPointwiseMode = 0, kComparesOrder = 303, kNumbers = 501, kRandom = 33;
  AttentionWork attention{.flops = work.flops, .precision = work.precision, .bytes = work.bytes};
  bool numbers = false, compares = false;
  for (const Link& operation : graph.links.at(kGraphOperations)) {
    if (!operation) continue;
    Shape scores;
    if (operation->type == kMatmul) scores = ShapeOf(operation->Linked(1522));
    if (operation->type == kAttentionForward || operation->type == kAttentionBackward) {
      const bool forward = operation->type == kAttentionForward;
      scores = ShapeOf(operation->Linked(forward ? 2800 : 2851));
      const Shape keys = ShapeOf(operation->Linked(forward ? 2801 : 2852));
      if (scores.count >= 2 && keys.count >= 2)
        scores.dims[scores.count - 1] = keys.dims[keys.count - 2];
    }
    if (attention.heads == 0 && scores.count >= 2) {
      attention.queries = static_cast<double>(scores.dims[scores.count - 2]);
      attention.keys = static_cast<double>(scores.dims[scores.count - 1]);
      attention.heads = static_cast<double>(scores.elements()) /
                        std::max(attention.queries * attention.keys, 1.0);
    }
    if (const Descriptor* mode = operation->type == kPointwise ? operation->Linked(750) : nullptr) {
      numbers |= mode->Number(kPointwiseMode, -1) == kNumbers;
      compares |= mode->Number(kPointwiseMode, -1) == kComparesOrder;
    }
    attention.dropout |= operation->type == kRandom;
  }
  attention.causal = numbers && compares;
  return attention;
}

}  // namespace

int64_t Descriptor::Number(int attribute, int64_t otherwise) const {
  const auto found = values.find(attribute);
  if (found == values.end() || found->second.bytes.empty()) return otherwise;
  int64_t number = 0;
  __builtin_memcpy(&number, found->second.bytes.data(),
                   std::min<size_t>(sizeof number, found->second.bytes.size()));
  return number;
}
const Descriptor* Descriptor::Linked(int attribute) const {
  const auto found = links.find(attribute);
  return found == links.end() || found->second.empty() ? nullptr : found->second.front().get();
}

Shape ShapeOf(const Descriptor* tensor) {
  Shape shape;
  if (!tensor) return shape;
  shape.type = static_cast<int>(tensor->Number(kTensorType, 0));
  const std::vector<int64_t> dims = tensor->All<int64_t>(kTensorDims),
                             strides = tensor->All<int64_t>(kTensorStrides);
  shape.count = static_cast<int>(std::min<size_t>(dims.size(), kMostDims));
  for (int i = 0; i < shape.count; ++i) {
    shape.dims[i] = dims[i];
    shape.strides[i] = static_cast<size_t>(i) < strides.size() ? strides[i] : 0;
  }
  return shape;
}

std::vector<Engine> EnginesOf(const Descriptor& graph) {
  Chip chip{.compute_capability = 80};
  if (!ThePlatform().gpus.empty()) {
    const Gpu& gpu = ThePlatform().gpus[CurrentDevice()];
    chip = {gpu.compute_capability, gpu.sm_count};
  }
  if (const std::optional<Attention> attention = AttentionOf(graph)) {
    const Workspace workspace = AttentionWorkspace(*attention, chip);
    return {{workspace.bytes, true,
             NameOf(attention->backward ? "cuDNN workspace of attention's backward kernel"
                                        : "cuDNN workspace of attention",
                    workspace)}};
  }
  const auto operations = graph.links.find(kGraphOperations);
  if (operations != graph.links.end())
    for (const Link& operation : operations->second) {
      if (!operation || !IsConvolution(operation->type)) continue;
      const Convolution convolution = ConvolutionOf(*operation);
      const char* what = convolution.kind == ConvolutionKind::kForward
                             ? "cuDNN workspace of a convolution"
                         : convolution.kind == ConvolutionKind::kBackwardData
                             ? "cuDNN workspace of a convolution's input gradient"
                             : "cuDNN workspace of a convolution's filter gradient";
      // Programs select engines by their numerical notes. A program that forbids TF32 gets the
      // plain engine.
      const Workspace fast = ConvolutionWorkspace(convolution, chip, true),
                      plain = ConvolutionWorkspace(convolution, chip, false);
      return {{fast.bytes, true, NameOf(what, fast)}, {plain.bytes, false, NameOf(what, plain)}};
    }
  return {{0, false, "cuDNN workspace of a fused graph"}};
}

GraphWork WorkOf(const Descriptor& graph, const Engine& engine) {
  GraphWork work;
  work.name = "cudnnBackendExecute";
  std::set<int64_t> seen;
  const auto operations = graph.links.find(kGraphOperations);
  if (operations == graph.links.end()) return work;
  if (const std::optional<Attention> attention = AttentionOf(graph))
    work.name = attention->backward ? "cudnn_attention_backward" : "cudnn_attention_forward";
  for (const Link& operation : operations->second) {
    if (!operation) continue;
    work.flops += FlopsOf(*operation);
    if (operation->type == kConvolutionForward) work.name = "cudnn_convolution_forward";
    if (operation->type == kConvolutionBackwardData) work.name = "cudnn_convolution_backward_data";
    if (operation->type == kConvolutionBackwardFilter)
      work.name = "cudnn_convolution_backward_filter";
    for (const auto& [attribute, tensors] : operation->links)
      for (const Link& tensor : tensors) {
        if (!tensor || tensor->type != kTensor || tensor->Number(kTensorVirtual, 0) & 1) continue;
        const Shape shape = ShapeOf(tensor.get());
        const int64_t id = tensor->Number(kTensorId, 0);
        if (TypeBits(shape.type) <= 16) work.precision = Precision::kBf16;
        if (seen.insert(id).second) work.bytes += shape.bytes();
        if (IsWritten(attribute))
          work.written[id] = std::max(work.written[id], shape.extent_bytes());
      }
  }
  if (work.precision == Precision::kFp32 && engine.tensor_cores) work.precision = Precision::kTf32;
  if (ThePlatform().gpus.empty()) return work;
  const Gpu& gpu = ThePlatform().gpus[CurrentDevice()];
  if (AttentionOf(graph)) work.duration_ns = AttentionDuration(gpu, DescribeAttention(graph, work));
  for (const Link& operation : operations->second)
    if (operation && IsConvolution(operation->type))
      work.duration_ns = ConvolutionDuration(gpu, ConvolutionOf(*operation), work.precision);
  return work;
}

}  // namespace vramscope::emulated::cudnn
