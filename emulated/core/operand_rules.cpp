#include "emulated/core/operand_rules.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <string_view>
#include <utility>

#include "emulated/core/kernel_names.h"

namespace vramscope::emulated {
namespace {

bool IsNumber(std::string_view type) {
  constexpr std::string_view kTypes[] = {"bool",
                                         "char",
                                         "signed char",
                                         "unsigned char",
                                         "short",
                                         "unsigned short",
                                         "int",
                                         "unsigned int",
                                         "long",
                                         "unsigned long",
                                         "long long",
                                         "unsigned long long",
                                         "float",
                                         "double",
                                         "c10::Half",
                                         "c10::BFloat16",
                                         "c10::complex<float>",
                                         "c10::complex<double>"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// Returns whether a structure contains one address, at its start. Other fields may contain old
// values.
bool BeginsWithItsAddress(std::string_view name) {
  return name == "TensorInfo" || name == "GenericPackedTensorAccessor" ||
         name == "PackedTensorAccessor" || name == "PackedTensorAccessor32" ||
         name == "PackedTensorAccessor64";
}

// Returns whether a kernel uses its non-const pointers only for writing.
bool OnlyWritesWhatIsNotConst(std::string_view function) {
  constexpr std::string_view kNames[] = {"vectorized_layer_norm_kernel<",
                                         "RowwiseMomentsCUDAKernel<",
                                         "GammaBetaBackwardCUDAKernel",
                                         "GammaBetaBackwardSimpleCUDAKernel<",
                                         "nll_loss_forward_reduce_cuda_kernel_2d<",
                                         "fused_dropout_kernel"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return Contains(function, name); });
}

void Add(uint64_t value, Use use, std::vector<Operand>* operands) {
  if (value >= kLeastAddress) operands->push_back({value, use});
}

}  // namespace

OperandRules::OperandRules(const char* mangled_name, std::vector<uint16_t> parameter_sizes)
    : sizes_(std::move(parameter_sizes)) {
  const std::string name = Demangled(mangled_name);
  const auto [function, types] = SignatureOf(name);
  const bool known = types.size() == sizes_.size();
  if (known && (Elementwise(name) || Strided(name) || Index(name) || Reduction(name) ||
                Foreach(function, types) || Concatenation(function, types)))
    return;
  if (known) {
    Signature(function, types, 0);
    return;
  }
  for (size_t i = 0; i < sizes_.size(); ++i) AllWords(i);
}

void OperandRules::AllWords(size_t parameter) {
  for (size_t at = 0; at + 8 <= sizes_[parameter]; at += 8)
    words_.push_back({static_cast<uint16_t>(parameter), static_cast<uint16_t>(at)});
}

// Recognises kernels over the elements of contiguous tensors. Parameters: the number of elements,
// the functor, and the tensors' data pointers (the first is the result). All other parameters are
// numbers.
bool OperandRules::Elementwise(const std::string& name) {
  constexpr uint16_t kFunction = 1, kTensors = 2;
  const bool is = (Contains(name, "::vectorized_elementwise_kernel<") ||
                   Contains(name, "::unrolled_elementwise_kernel<")) &&
                  !Contains(name, "multi_outputs") && sizes_.size() > kTensors && sizes_[0] == 4;
  if (!is) return false;
  AllWords(kFunction);
  for (uint16_t at = 0; at + 8 <= sizes_[kTensors]; at += 8)
    words_.push_back({kTensors, at, at == 0 ? Use::kWritten : Use::kRead});
  return true;
}

// Recognises kernels over tensors with strides. Their only parameter is a structure with the
// strides, the tensors' data pointers (the first is the result), and the functor.
bool OperandRules::Strided(const std::string& name) {
  if (!Contains(name, "::elementwise_kernel<") || !Contains(name, "gpu_kernel_impl") ||
      sizes_.size() != 2 || sizes_[0] != 4)
    return false;
  constexpr int kMost = 8;
  for (int tensors = kMost; tensors > 0; --tensors) {
    if (BehindOffsetCalculator(tensors) + 8 * static_cast<size_t>(tensors) >= sizes_[1]) continue;
    strided_ = tensors;
    return true;
  }
  return false;
}

// Like Strided(), but for kernels that index. The pointers are the result, the source and the
// indices.
bool OperandRules::Index(const std::string& name) {
  if (!Contains(name, "index_elementwise_kernel<") || sizes_.size() != 2) return false;
  const int tensors = Contains(name, "gpu_index_kernel") || Contains(name, "index_copy_kernel_impl")
                          ? 3
                      : Contains(name, "index_fill_kernel_impl") ? 2
                                                                 : 0;
  if (tensors == 0 || BehindOffsetCalculator(tensors) + 16 > sizes_[1]) return false;
  const auto first = static_cast<uint16_t>(BehindOffsetCalculator(tensors));
  for (uint16_t at = first; at + 8 <= sizes_[1]; at += 8)
    words_.push_back({1, at, at == first ? Use::kWritten : Use::kRead});
  return true;
}

bool OperandRules::Reduction(const std::string& name) {
  reduction_ = Contains(name, "::reduce_kernel<") && Contains(name, "::ReduceOp<") &&
               sizes_.size() == 1 && sizes_[0] >= 72 && sizes_[0] % 8 == 0;
  return reduction_;
}

bool OperandRules::Foreach(const std::string& function, const std::vector<std::string>& types) {
  if (!Contains(function, "multi_tensor_apply_kernel<") || types.size() < 2) return false;
  const Template lists = TemplateOf(types[0]), functor = TemplateOf(types[1]);
  constexpr int kBlockBytes = kBlocksOfLists * (1 + 4);
  if (lists.arguments.empty() || functor.arguments.empty()) return false;
  const int count = NumberOf(lists.arguments.back());
  if (count < 1 || count > static_cast<int>(std::size(lists_.uses))) return false;
  // Bytes per tensor before the block table (`each`), and bytes after the table (`behind`).
  int each = 8 * count + 8, steps = 0, behind = 4;
  if (lists.name == "TensorListScalarListMetadata") {
    const std::string& scalar = lists.arguments.front();
    each += scalar == "float" ? 4 : scalar == "c10::complex<double>" ? 16 : 8;
    behind = 0;
  } else if (lists.name == "FusedOptimizerTensorListMetadata") {
    steps = each;
    each += 8;
  } else if (lists.name != "TensorListMetadata") {
    return false;
  }
  // The capacity of the lists depends on the version of PyTorch and on the kind of list.
  int most = 0;
  for (const int tensors : {110, 96, 72, 64, 60, 48, 36, 30})
    for (const int end : {behind, 0})
      if ((each * tensors + kBlockBytes + end + 7) / 8 * 8 == sizes_[0]) most = tensors;
  if (most == 0) return false;

  std::array<Use, std::size(Lists{}.uses)> uses{};
  const auto argument = [&](size_t from_end) {
    return functor.arguments.size() < from_end
               ? -1
               : NumberOf(functor.arguments[functor.arguments.size() - from_end]);
  };
  const auto use = [&](int list, Use of) {
    uses[list] = static_cast<Use>(static_cast<int>(uses[list]) | static_cast<int>(of));
  };
  constexpr std::string_view kReadFirst[] = {"UnaryOpFunctor",
                                             "BinaryOpScalarFunctor",
                                             "BinaryOpScalarListFunctor",
                                             "BinaryOpListAlphaFunctor",
                                             "BinaryOpScalarTensorFunctor",
                                             "PointwiseOpScalarFunctor",
                                             "PointwiseOpScalarListFunctor",
                                             "PointwiseOpScalar0dTensorFunctor",
                                             "TernaryOpListFunctor",
                                             "TernaryOpScalarFunctor",
                                             "TernaryOpScalarListFunctor",
                                             "CopyFunctor"};
  const bool reads_first =
      std::find(std::begin(kReadFirst), std::end(kReadFirst), functor.name) != std::end(kReadFirst);
  if (const int result = argument(1), reads = argument(2);
      (reads_first || functor.name == "ZeroFunctor") && argument(3) == count && result >= 0 &&
      result < count && reads >= 0 && reads <= count) {
    for (int list = 0; reads_first && list < reads; ++list) use(list, Use::kRead);
    use(result, Use::kWritten);
  } else if (functor.name == "FusedAdamMathFunctor" && count >= 4) {
    constexpr int kGradient = 1;
    for (int list = 0; list < count; ++list) {
      use(list, Use::kRead);
      if (list != kGradient) use(list, Use::kWritten);
    }
  } else if (functor.name == "LpNormFunctor") {
    for (int list = 0; list < count; ++list) use(list, Use::kRead);
  }
  lists_.count = count;
  lists_.most = most;
  lists_.steps = static_cast<uint16_t>(steps * most);
  lists_.blocks = static_cast<uint16_t>(each * most);
  std::copy(uses.begin(), uses.end(), lists_.uses);
  Signature(function, types, 2);
  return true;
}

bool OperandRules::Concatenation(const std::string& function,
                                 const std::vector<std::string>& types) {
  if (!Contains(function, "CatArrayBatchedCopy") || types.size() < 2 || !types[0].ends_with('*') ||
      TemplateOf(types[1]).name != "CatArrInputTensorMetadata")
    return false;
  words_.push_back({0, 0, Use::kWritten});
  concatenated_ = 1;
  return true;
}

// Derives rules from the types of the parameters from number `first` on.
void OperandRules::Signature(const std::string& function, const std::vector<std::string>& types,
                             size_t first) {
  std::vector<size_t> may_be_written;  // indices in words_
  bool all_known = first == 0;
  for (size_t i = first; i < types.size(); ++i) {
    std::string_view type = types[i];
    if (IsNumber(type)) continue;
    const Template made_of = TemplateOf(type);
    bool is_const = false, one_address = false;
    if (type.ends_with('*') && !type.ends_with("**")) {
      type.remove_suffix(1);
      is_const = type.ends_with(" const");
      one_address = sizes_[i] == 8;
    } else if (BeginsWithItsAddress(made_of.name) && !made_of.arguments.empty()) {
      is_const = made_of.arguments.front().ends_with(" const");
      one_address = sizes_[i] >= 8;
    }
    if (!one_address) {
      // The state of the random number generator is only read.
      all_known = all_known && types[i] == "at::PhiloxCudaState";
      AllWords(i);
      continue;
    }
    if (!is_const) may_be_written.push_back(words_.size());
    words_.push_back({static_cast<uint16_t>(i), 0, is_const ? Use::kRead : Use::kUnknown});
  }
  if (Contains(function, "::vectorized_gather_kernel<") && may_be_written.size() == 3) {
    for (const size_t word : may_be_written) words_[word].use = Use::kRead;
    words_[may_be_written.front()].use = Use::kWritten;
    return;
  }
  // Every kernel writes somewhere. So if a kernel can write only through one of its pointers, it
  // writes through this pointer.
  if (all_known && (may_be_written.size() == 1 || OnlyWritesWhatIsNotConst(function)))
    for (const size_t word : may_be_written) words_[word].use = Use::kWritten;
}

void OperandRules::Read(const Dim& grid, void** parameters, std::vector<Operand>* operands) const {
  for (const Word& word : words_)
    Add(WordAt(parameters, word.parameter, word.at), word.use, operands);
  if (lists_.count > 0) ReadLists(grid, parameters, operands);
  if (concatenated_ >= 0)
    for (size_t i = 0; i < grid.y && 8 * i + 8 <= sizes_[concatenated_]; ++i)
      Add(WordAt(parameters, concatenated_, 8 * i), Use::kRead, operands);
  if ((reduction_ && !ReadReduction(parameters, operands)) ||
      (strided_ > 0 && !ReadStrided(parameters, operands)))
    for (size_t i = 0; i < sizes_.size(); ++i)
      for (size_t at = 0; at + 8 <= sizes_[i]; at += 8)
        Add(WordAt(parameters, i, at), Use::kUnknown, operands);
}

void OperandRules::ReadLists(const Dim& grid, void** parameters,
                             std::vector<Operand>* operands) const {
  const auto* bytes = static_cast<const uint8_t*>(parameters[0]);
  std::bitset<256> used;
  if (grid.x > kBlocksOfLists) return;
  for (size_t block = 0; block < grid.x; ++block) used.set(bytes[lists_.blocks + block]);
  for (int tensor = 0; tensor < lists_.most; ++tensor) {
    if (!used[tensor]) continue;
    for (int list = 0; list < lists_.count; ++list)
      Add(WordAt(parameters, 0, 8 * (list * lists_.most + tensor)), lists_.uses[list], operands);
    if (lists_.steps > 0)
      Add(WordAt(parameters, 0, lists_.steps + 8 * tensor), Use::kRead, operands);
  }
}

// The structure ends with the source pointer, two result pointers, three buffers shared by all
// threads, a 64-bit number, two flags (accumulate, final part), and the number of results. With
// larger alignment, it has eight more bytes.
bool OperandRules::ReadReduction(void** parameters, std::vector<Operand>* operands) const {
  constexpr size_t kEnd = 64;
  for (const size_t end : {size_t{sizes_[0]}, size_t{sizes_[0]} - 8}) {
    const size_t begin = end - kEnd;
    const uint64_t last = WordAt(parameters, 0, end - 8);
    const auto accumulates = static_cast<uint8_t>(last), is_final = static_cast<uint8_t>(last >> 8);
    const uint64_t results = last >> 32;
    if (accumulates > 1 || is_final > 1 || results < 1 || results > 2 ||
        WordAt(parameters, 0, begin) < kLeastAddress ||
        WordAt(parameters, 0, begin + 8) < kLeastAddress)
      continue;
    Add(WordAt(parameters, 0, begin), Use::kRead, operands);
    for (size_t i = 1; i <= results; ++i)
      Add(WordAt(parameters, 0, begin + 8 * i), accumulates ? Use::kBoth : Use::kWritten, operands);
    for (const size_t buffer : {size_t{24}, size_t{32}, size_t{40}})
      Add(WordAt(parameters, 0, begin + buffer), Use::kBoth, operands);
    return true;
  }
  return false;
}

int OperandRules::StridedTensors(void** parameters) const {
  for (int tensors = strided_; tensors > 0; --tensors) {
    const size_t first = BehindOffsetCalculator(tensors);
    bool all = true;
    for (int i = 0; i < tensors; ++i)
      all = all && WordAt(parameters, 1, first + 8 * i) >= kLeastAddress;
    if (all) return tensors;
  }
  return 0;
}

bool OperandRules::ReadStrided(void** parameters, std::vector<Operand>* operands) const {
  const int tensors = StridedTensors(parameters);
  if (tensors == 0) return false;
  const size_t first = BehindOffsetCalculator(tensors);
  for (int i = 0; i < tensors; ++i)
    Add(WordAt(parameters, 1, first + 8 * i), i == 0 ? Use::kWritten : Use::kRead, operands);
  for (size_t at = first + 8 * tensors; at + 8 <= sizes_[1]; at += 8)
    Add(WordAt(parameters, 1, at), Use::kUnknown, operands);
  return true;
}

}  // namespace vramscope::emulated
