#include "emulated/core/work_rules.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "emulated/core/kernel_names.h"

namespace vramscope::emulated {
namespace {

// Measured clocks of a multiprocessor per element, for kernels that are not limited by memory.
constexpr double kClocksOfIndex = 0.8;  // an element whose address is computed from strides
constexpr double kClocksOfCast = 0.36;  // an element whose type is known only when it is loaded
constexpr double kClocksOfExponential = 0.6;
constexpr double kClocksOfMoments = 0.8;  // an element of a running mean and variance
// To transfer an isolated element, the GPU transfers a whole memory sector.
constexpr double kSector = 32;

// Returns the size of an element of this type, or 0 if the type is not that of an element.
int BytesOf(std::string_view type) {
  type = Trimmed(type);
  if (type.ends_with("const")) type = Trimmed(type.substr(0, type.size() - 5));
  constexpr std::pair<std::string_view, int> kTypes[] = {{"float", 4},
                                                         {"double", 8},
                                                         {"c10::Half", 2},
                                                         {"c10::BFloat16", 2},
                                                         {"cutlass::half_t", 2},
                                                         {"cutlass::bfloat16_t", 2},
                                                         {"bool", 1},
                                                         {"char", 1},
                                                         {"signed char", 1},
                                                         {"unsigned char", 1},
                                                         {"short", 2},
                                                         {"int", 4},
                                                         {"unsigned int", 4},
                                                         {"long", 8},
                                                         {"unsigned long", 8},
                                                         {"c10::complex<float>", 8},
                                                         {"c10::complex<double>", 16}};
  for (const auto& [name, bytes] : kTypes)
    if (type == name) return bytes;
  return 0;
}

// Returns the size of an element to which a parameter such as "float const*" or
// "at::TensorInfo<float const, unsigned int>" points.
int PointedTo(std::string_view type) {
  if (type.ends_with('*')) return BytesOf(type.substr(0, type.size() - 1));
  const Template made_of = TemplateOf(type);
  return made_of.arguments.empty() ? 0 : BytesOf(made_of.arguments.front());
}

// The sizes of the arguments and of the result of an element-wise kernel's function.
struct FunctionTypes {
  std::vector<int> inputs;
  int result = 0;
};
FunctionTypes TypesOf(const std::string& function) {
  FunctionTypes types;
  // "...::{lambda(float, bool)#1}"
  constexpr std::string_view kLambda = "{lambda(";
  if (const size_t lambda = function.rfind(kLambda); lambda != std::string::npos) {
    const size_t begin = lambda + kLambda.size(), end = function.find(")#", begin);
    if (end != std::string::npos)
      for (const std::string& type : Parts(std::string_view(function).substr(begin, end - begin)))
        types.inputs.push_back(BytesOf(type));
    return types;
  }
  const Template made_of = TemplateOf(function);
  const std::vector<std::string>& of = made_of.arguments;
  if (made_of.name == "BinaryFunctor" && of.size() >= 3) {
    types.inputs = {BytesOf(of[0]), BytesOf(of[1])};
    types.result = BytesOf(of[2]);
  } else if ((made_of.name == "AUnaryFunctor" || made_of.name == "BUnaryFunctor") &&
             of.size() >= 3) {
    types.inputs = {BytesOf(of[made_of.name == "AUnaryFunctor" ? 1 : 0])};
    types.result = BytesOf(of[2]);
  } else if (!of.empty()) {
    types.result = BytesOf(of.front());
  }
  return types;
}

uint32_t HalfWordAt(void** parameters, size_t parameter, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, static_cast<const char*>(parameters[parameter]) + at, sizeof value);
  return value;
}

// Kernels over rows or whole tensors. An entry lists the factors of the number of elements, and for
// each parameter how often its elements are read or written.
constexpr int kGrid = -1, kNone = -2;
struct RowKernel {
  std::string_view name;
  int factors[3];  // indices of parameters, kGrid (a block is a row) or kNone
  struct Pass {
    int parameter, times;
  } passes[3];
  double clocks = 0;
  double serial_s = 0;  // the time in which the threads of a block wait for each other's sums
  bool serial_threads = false;
};
constexpr double kBlockSums = 2e-6;
constexpr RowKernel kRowKernels[] = {
    // A row that does not fit a block's registers or shared memory is read three times: for the
    // maximum, the sum, and the result.
    {"::cunn_SoftMaxForward<", {kGrid, 2, kNone}, {{0, 1}, {1, 3}}},
    {"::cunn_SoftMaxForwardSmem<", {kGrid, 2, kNone}, {{0, 1}, {1, 1}}},
    {"::cunn_SoftMaxForwardReg<", {kGrid, 2, kNone}, {{0, 1}, {1, 1}}},
    {"::cunn_SoftMaxForwardGmem<", {kGrid, 2, kNone}, {{0, 1}, {1, 3}}},
    {"::cunn_SoftMaxBackward<", {kGrid, 3, kNone}, {{0, 1}, {1, 1}, {2, 2}}},
    {"::cunn_SoftMaxBackwardSmem<", {kGrid, 3, kNone}, {{0, 1}, {1, 1}, {2, 1}}},
    {"::cunn_SpatialSoftMaxForward<", {2, 3, 4}, {{0, 1}, {1, 3}}, 0, 0, true},
    {"::cunn_SpatialSoftMaxBackward<", {3, 4, 5}, {{0, 1}, {1, 1}, {2, 2}}, 0, 0, true},
    {"::softmax_warp_forward<", {2, 4, kNone}, {{0, 1}, {1, 1}}, kClocksOfExponential},
    {"::softmax_warp_backward<", {3, 5, kNone}, {{0, 1}, {1, 1}, {2, 1}}},
    {"::vectorized_layer_norm_kernel<",
     {kGrid, 0, kNone},
     {{2, 1}, {7, 1}},
     kClocksOfMoments,
     kBlockSums},
    {"::layer_norm_grad_input_kernel_vectorized<",
     {kGrid, 6, kNone},
     {{0, 1}, {1, 1}, {5, 1}},
     0,
     kBlockSums},
    {"::layer_norm_grad_input_kernel<", {kGrid, 6, kNone}, {{0, 1}, {1, 1}, {5, 1}}, 0, kBlockSums},
    {"::RowwiseMomentsCUDAKernel<", {kGrid, 0, kNone}, {{2, 1}}, kClocksOfMoments, kBlockSums},
    {"::LayerNormForwardCUDAKernel<", {kGrid, 0, kNone}, {{1, 1}, {6, 1}}},
    {"::GammaBetaBackwardCUDAKernelTemplate<", {0, 1, kNone}, {{2, 1}, {3, 1}}, 0, 0, true},
    {"::GammaBetaBackwardSimpleCUDAKernel<", {0, 1, kNone}, {{2, 1}, {3, 1}}, 0, 0, true},
    {"::fused_dropout_kernel_vec<",
     {3, kNone, kNone},
     {{0, 1}, {1, 1}, {2, 1}},
     kClocksOfRandomNumber},
    {"::fused_dropout_kernel<", {3, kNone, kNone}, {{0, 1}, {1, 1}, {2, 1}}, kClocksOfRandomNumber},
    {"::vectorized_gather_kernel<", {3, 4, kNone}, {{0, 1}, {1, 1}}},
};

}  // namespace

WorkRules::WorkRules(const char* mangled_name, std::vector<uint16_t> parameter_sizes,
                     const OperandRules& operands)
    : sizes_(std::move(parameter_sizes)), operands_(operands) {
  const std::string name = Demangled(mangled_name);
  const auto [function, types] = SignatureOf(name);
  if (Attention(name.empty() ? mangled_name : name, function) || types.size() != sizes_.size())
    return;
  if (Elementwise(function, types) || Rows(function, types)) return;
  if (operands_.lists().count > 0) {
    const Template functor = TemplateOf(types[1]);
    element_bytes_ = functor.arguments.empty() ? 0 : BytesOf(functor.arguments.front());
    if (element_bytes_ > 0) kind_ = Kind::kLists;
  } else if (Contains(function, "::reduce_kernel<") && sizes_.size() == 1) {
    const Template reduction = TemplateOf(types[0]);
    element_bytes_ = reduction.arguments.empty() ? 0 : BytesOf(reduction.arguments.front());
    if (element_bytes_ > 0) kind_ = Kind::kReduction;
  } else if (Contains(function, "::CatArrayBatchedCopy") && types.size() >= 2) {
    // "CatArrInputTensorMetadata<OpaqueType<4u>, unsigned int, 64, 64>" has the addresses, offsets,
    // sizes and numbers of elements of up to 64 tensors.
    const std::vector<std::string> of = TemplateOf(types[1]).arguments;
    const Template element = of.empty() ? Template{} : TemplateOf(of[0]);
    if (of.size() < 3 || of[1] != "unsigned int" || element.arguments.empty()) return;
    element_bytes_ = NumberOf(element.arguments[0]);
    batch_ = NumberOf(of[2]);
    clocks_ = Contains(function, "_vectorized<") ? 0 : kClocksOfIndex;
    if (element_bytes_ > 0 && batch_ > 0 && 8 * batch_ + 12 * batch_ <= sizes_[1])
      kind_ = Kind::kConcatenation;
  } else if (Contains(function, "::embedding_backward_feature_kernel<") && sizes_.size() > 3) {
    // A block reads all indices to find equal indices.
    constexpr double kIndex = 30e-9;
    in_turn_s_ = kIndex;
    factors_[0] = 3;
    kind_ = Kind::kSerial;
  }
}

bool WorkRules::Elementwise(const std::string& function, const std::vector<std::string>& types) {
  if (types.size() < 2 || sizes_[0] != 4 || Contains(function, "multi_outputs")) return false;
  if (Contains(function, "::elementwise_kernel<") ||
      Contains(function, "::index_elementwise_kernel<")) {
    tensors_ =
        Contains(function, "gpu_index_kernel") || Contains(function, "index_copy_kernel_impl") ? 3
        : Contains(function, "index_fill_kernel_impl")                                         ? 2
                                                                                               : 0;
    kind_ = Kind::kStrided;
    return true;
  }
  const size_t vectorized = function.find("::vectorized_elementwise_kernel<");
  if (vectorized == std::string::npos && !Contains(function, "::unrolled_elementwise_kernel<"))
    return false;
  const Template tensors = types.size() > 2 ? TemplateOf(types[2]) : Template{};
  if (tensors.arguments.empty()) return false;
  tensors_ = NumberOf(tensors.arguments.back());
  if (tensors_ < 1 || tensors_ > 16) return false;
  FunctionTypes of = TypesOf(types[1]);
  if (vectorized != std::string::npos) {
    // A vector has 16 bytes.
    const int width =
        NumberOf(std::string_view(function).substr(function.find('<', vectorized) + 1));
    if (of.result == 0 && width > 0) of.result = 16 / width;
  }
  if (of.result == 0) of.result = of.inputs.empty() ? 4 : of.inputs.front();
  element_bytes_ = of.result;
  const bool each = static_cast<int>(of.inputs.size()) == tensors_ - 1;
  for (int i = 0; i < tensors_ - 1; ++i)
    element_bytes_ += each && of.inputs[i] > 0 ? of.inputs[i] : of.result;
  // With "LoadWithCast<2>, StoreWithCast<1>", the element sizes are in the parameters.
  for (size_t i = 3; i < types.size(); ++i)
    if (Contains(types[i], "LoadWithCast<") && i + 1 < types.size() &&
        sizes_[i] >= (tensors_ + 2) / 4 * 4 + 4 * (tensors_ - 1) && sizes_[i + 1] >= 8)
      loader_ = static_cast<int>(i);
  kind_ = Kind::kElementwise;
  return true;
}

bool WorkRules::Rows(const std::string& function, const std::vector<std::string>& types) {
  const auto known = [&](int parameter) {
    return parameter < 0 || (parameter < static_cast<int>(sizes_.size()) &&
                             (sizes_[parameter] == 4 || sizes_[parameter] == 8));
  };
  for (const RowKernel& kernel : kRowKernels) {
    if (!Contains(function, kernel.name)) continue;
    if (!std::all_of(std::begin(kernel.factors), std::end(kernel.factors), known)) return false;
    for (const RowKernel::Pass& pass : kernel.passes)
      if (pass.times > 0 && pass.parameter < static_cast<int>(types.size()))
        element_bytes_ += pass.times * PointedTo(types[pass.parameter]);
    std::copy(std::begin(kernel.factors), std::end(kernel.factors), factors_);
    clocks_ = kernel.clocks;
    in_turn_s_ = kernel.serial_s;
    threads_in_turn_ = kernel.serial_threads;
    kind_ = Kind::kRows;
    return true;
  }
  return false;
}

// Reads the sizes of a block's tiles of queries and keys from the kernel's name, such as
// "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(...)" or
// "flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4, ...>, dropout, causal, ...>".
bool WorkRules::Attention(const std::string& name, const std::string& function) {
  const std::string_view text = name;
  if (sizes_.empty()) return false;
  if (const size_t fmha = text.find("fmha_cutlass"); fmha != std::string_view::npos) {
    const bool forward = text.substr(fmha).starts_with("fmha_cutlassF");
    const size_t by = text.find('x', fmha), before = text.rfind('_', by);
    if (by == std::string_view::npos || before == std::string_view::npos) return false;
    tile_rows_ = NumberOf(text.substr(before + 1, by - before - 1));
    tile_columns_ = NumberOf(text.substr(by + 1));
    precision_ = Contains(text, "_f32_") ? Precision::kFp32 : Precision::kBf16;
    if (tile_rows_ > 0 && tile_columns_ > 0 && sizes_[0] >= 4 * 42)
      kind_ = forward ? Kind::kEfficientForward : Kind::kEfficientBackward;
    return true;
  }
  const bool backward = Contains(function, "::flash_bwd_dq_dk_dv_loop");
  if (!backward && !Contains(function, "::flash_fwd_kernel<") &&
      !Contains(function, "::flash_fwd_splitkv_kernel<"))
    return false;
  const size_t open = function.find('<');
  const std::vector<std::string> of =
      TemplateOf(std::string_view(function).substr(open - 1)).arguments;
  const std::vector<std::string> traits =
      of.empty() ? std::vector<std::string>{} : TemplateOf(of[0]).arguments;
  if (of.size() < 3 || traits.size() < 3 || sizes_[0] < 196) return true;
  random_ = of[1] == "true" && !Contains(function, "splitkv");
  causal_ = of[Contains(function, "splitkv") ? 1 : 2] == "true";
  tile_rows_ = NumberOf(traits[1]);
  tile_columns_ = NumberOf(traits[2]);
  precision_ = Precision::kBf16;
  if (tile_rows_ > 0 && tile_columns_ > 0)
    kind_ = backward ? Kind::kFlashBackward : Kind::kFlashForward;
  return true;
}

std::optional<LaunchWork> WorkRules::Of(const Dim& grid, const Dim& block,
                                        void** parameters) const {
  switch (kind_) {
    case Kind::kUnknown:
      return std::nullopt;
    case Kind::kElementwise:
      return OfElementwise(parameters);
    case Kind::kStrided:
      return OfStrided(parameters);
    case Kind::kReduction:
      return OfReduction(block, parameters);
    case Kind::kLists:
      return OfLists(grid, parameters);
    case Kind::kRows:
      return OfRows(grid, block, parameters);
    case Kind::kConcatenation:
      return OfConcatenation(grid, parameters);
    case Kind::kSerial:
      return LaunchWork{.serial_s = in_turn_s_ * Number(parameters, factors_[0])};
    default:
      return OfAttention(grid, parameters);
  }
}

// Returns the value of a parameter, or 0 if it is negative.
double WorkRules::Number(void** parameters, int parameter) const {
  const int64_t value = sizes_[parameter] == 8
                            ? static_cast<int64_t>(WordAt(parameters, parameter, 0))
                            : static_cast<int32_t>(HalfWordAt(parameters, parameter, 0));
  return static_cast<double>(std::max<int64_t>(value, 0));
}

WorkRules::Work WorkRules::OfElementwise(void** parameters) const {
  double bytes = element_bytes_, clocks = 0;
  if (loader_ > 0) {
    clocks = kClocksOfCast * tensors_;
    bytes = HalfWordAt(parameters, loader_ + 1, 4);
    for (int i = 0; i < tensors_ - 1; ++i)
      bytes += HalfWordAt(parameters, loader_, (tensors_ + 2) / 4 * 4 + 4 * i);
    if (bytes > 16.0 * tensors_) bytes = element_bytes_;  // implausible: the layout differs
  }
  const double elements = Number(parameters, 0);
  return LaunchWork{.bytes = elements * bytes, .clocks = elements * clocks};
}

// The structure contains the number of dimensions, then the size of each of 25 dimensions with two
// numbers for divisions by it, then the stride in bytes of each tensor in each dimension.
WorkRules::Work WorkRules::OfStrided(void** parameters) const {
  constexpr int kMostDimensions = 25;
  const int tensors = tensors_ > 0 ? tensors_ : operands_.StridedTensors(parameters);
  if (tensors == 0 || sizes_.size() != 2 || OffsetCalculatorBytes(tensors) > sizes_[1])
    return std::nullopt;
  const auto dimensions = static_cast<int>(HalfWordAt(parameters, 1, 0));
  if (dimensions < 0 || dimensions > kMostDimensions) return std::nullopt;
  LaunchWork work{.clocks = kClocksOfIndex * Number(parameters, 0)};
  for (int tensor = 0; tensor < tensors; ++tensor) {
    // Along a dimension with stride 0, all elements are at the same address, so they are moved
    // once. Neighbouring elements share a sector if the innermost stride is small enough.
    double elements = 1, apart = 0;
    for (int i = 0; i < dimensions; ++i) {
      const double size = HalfWordAt(parameters, 1, 4 + 12 * i);
      const double stride = HalfWordAt(
          parameters, 1, 4 + 12 * kMostDimensions + 4 * static_cast<size_t>(i * tensors + tensor));
      if (stride == 0) continue;
      elements *= size;
      if (apart == 0) apart = stride;
    }
    work.bytes += elements * std::min(apart, kSector);
  }
  return work;
}

// The structure says how the work is divided. It contains the bytes of an element, the inputs per
// result, the number of results, the step between the elements of a thread, the blocks per result,
// and the block's width, height and threads.
WorkRules::Work WorkRules::OfReduction(const Dim& block, void** parameters) const {
  for (size_t at = 4; at <= 32 && at + 64 <= sizes_[0]; at += 4) {
    const auto word = [&](int i) {
      return HalfWordAt(parameters, 0, at + 4 * static_cast<size_t>(i));
    };
    const uint32_t element = word(0), width = word(11), height = word(12), threads = word(13);
    if (element == 0 || element > 16 || width != block.x || height != block.y ||
        threads != block.x * block.y || word(3) == 0)
      continue;
    const double inputs = word(1), outputs = word(2), step = word(3);
    LaunchWork work{.bytes = inputs * outputs * element_bytes_ + outputs * element};
    // A thread loads four elements (or vectors of four) at a time. If several blocks compute one
    // result, they write partial sums, which the last block adds up.
    constexpr double kLoads = 0.33e-6, kHandedOn = 5e-6;
    work.serial_s = kLoads * std::max(1.0, inputs / step / 4) + (word(5) > 1 ? kHandedOn : 0);
    return work;
  }
  return std::nullopt;
}

// A block processes one chunk of the tensors that have the same index in all lists.
WorkRules::Work WorkRules::OfLists(const Dim& grid, void** parameters) const {
  constexpr int64_t kChunk = 65536;
  const OperandRules::Lists& lists = operands_.lists();
  if (grid.x > OperandRules::kBlocksOfLists) return std::nullopt;
  const size_t sizes = 8 * static_cast<size_t>(lists.count) * lists.most;
  const size_t chunks = lists.blocks + OperandRules::kBlocksOfLists;
  double moved = 0;  // elements
  for (size_t i = 0; i < grid.x; ++i) {
    const uint8_t tensor = static_cast<const uint8_t*>(parameters[0])[lists.blocks + i];
    if (tensor >= lists.most) return std::nullopt;
    const auto elements = static_cast<int64_t>(WordAt(parameters, 0, sizes + 8 * tensor));
    const auto begin = kChunk * static_cast<int64_t>(HalfWordAt(parameters, 0, chunks + 4 * i));
    const int64_t rest = std::clamp<int64_t>(elements - begin, 0, kChunk);
    const auto address = [&](int list) {
      return WordAt(parameters, 0, 8 * (static_cast<size_t>(list) * lists.most + tensor));
    };
    int passes = 0;
    for (int list = 0; list < lists.count; ++list) {
      const auto use = static_cast<int>(lists.uses[list]);
      // A tensor that is in two lists is read once. An example is the square of a gradient.
      bool again = false;
      for (int other = 0; other < list; ++other)
        again = again || (address(other) == address(list) && lists.uses[other] == lists.uses[list]);
      if (!again) passes += use == 0 ? 1 : (use & 1) + (use >> 1 & 1);
    }
    moved += static_cast<double>(rest) * passes;
  }
  return LaunchWork{.bytes = moved * element_bytes_, .blocks = static_cast<double>(grid.x)};
}

WorkRules::Work WorkRules::OfRows(const Dim& grid, const Dim& block, void** parameters) const {
  double elements = 1;
  for (const int factor : factors_)
    if (factor != kNone) elements *= factor == kGrid ? grid.x : Number(parameters, factor);
  LaunchWork work{
      .bytes = elements * element_bytes_, .clocks = elements * clocks_, .serial_s = in_turn_s_};
  if (threads_in_turn_)
    work.serial_threads =
        static_cast<double>(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
  return work;
}

WorkRules::Work WorkRules::OfConcatenation(const Dim& grid, void** parameters) const {
  double elements = 0;
  for (int i = 0; i < std::min<int>(static_cast<int>(grid.y), batch_); ++i)
    elements += HalfWordAt(parameters, 1, 4 * static_cast<size_t>(4 * batch_ + i));
  return LaunchWork{.bytes = 2 * elements * element_bytes_, .clocks = elements * clocks_};
}

// A block processes a tile of queries and loops over all keys, with two products of a head's width.
// In the backward pass it processes a tile of keys and loops over all queries, with five products.
// A causal mask halves the work unless all tiles are processed at the same time.
WorkRules::Work WorkRules::OfAttention(const Dim& grid, void** parameters) const {
  const bool efficient = kind_ == Kind::kEfficientForward || kind_ == Kind::kEfficientBackward;
  const bool backward = kind_ == Kind::kEfficientBackward || kind_ == Kind::kFlashBackward;
  const auto word = [&](int i) {
    return static_cast<double>(HalfWordAt(parameters, 0, 4 * static_cast<size_t>(i)));
  };
  double queries = 0, keys = 0, width = 0, heads = 0;
  bool causal = causal_;
  if (kind_ == Kind::kEfficientForward) {
    queries = word(26), keys = word(27), width = (word(24) + word(25)) / 2;
    causal = (HalfWordAt(parameters, 0, 4 * 29) & 0xff) != 0;
    heads = static_cast<double>(grid.y) * grid.z;
  } else if (kind_ == Kind::kEfficientBackward) {
    queries = word(38), keys = word(39), width = (word(36) + word(37)) / 2;
    causal = (HalfWordAt(parameters, 0, 4 * 41) & 0xff) != 0;
    heads = static_cast<double>(grid.y) * grid.z;
  } else {
    queries = word(45), keys = word(46), width = word(48);
    heads = word(44) * word(24);
  }
  constexpr double kMost = 1 << 24;
  if (queries < 1 || keys < 1 || width < 1 || heads < 1 || queries > kMost || keys > kMost ||
      width > 4096 || heads > kMost)
    return std::nullopt;
  const auto whole = [](double size, int tile) {
    return static_cast<double>((static_cast<int64_t>(size) + tile - 1) / tile) * tile;
  };
  const double all = heads * whole(queries, tile_rows_) * whole(keys, tile_columns_);
  LaunchWork work{.precision = precision_};
  work.tiles = backward && !efficient ? heads * whole(keys, tile_columns_) / tile_columns_
               : backward             ? std::max(1.0, static_cast<double>(grid.x)) * heads
                                      : heads * whole(queries, tile_rows_) / tile_rows_;
  work.tile_flops = (backward ? 10 : 4) * width * all / work.tiles * (causal ? 0.5 : 1);
  if (random_) work.clocks = kClocksOfRandomNumber * all * (causal ? 0.5 : 1);
  // Shares of a multiprocessor's rate. The shares of the efficient kernels were measured in fp32
  // and are assumed for 16 bits with Ampere instructions. The shares of flash attention were
  // published by its authors for an A100.
  if (efficient)
    work.share = precision_ == Precision::kFp32 ? (backward ? 0.53 : 0.4) : (backward ? 0.2 : 0.25);
  else
    work.share = backward ? 0.5 : 0.55;
  return work;
}

}  // namespace vramscope::emulated
