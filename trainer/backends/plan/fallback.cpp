#include "trainer/backends/plan/fallback.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/List.h>
#include <c10/util/SmallVector.h>
#include <torch/library.h>

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trainer/backends/plan/plan_memory.h"

namespace vramscope::trainer::plan {
namespace {

enum class ArgumentKind : uint8_t { kOther, kTensor, kTensorList, kOptionalTensorList, kDevice };

// What the fallback needs of a schema, worked out once.
struct OpInfo {
  std::vector<ArgumentKind> arguments;
  std::vector<bool> written;
  size_t returns = 0;
};

ArgumentKind KindOf(const c10::Argument& argument) {
  c10::TypePtr type = argument.real_type();
  const bool optional = type->kind() == c10::TypeKind::OptionalType;
  if (optional) type = type->castRaw<c10::OptionalType>()->getElementType();
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return ArgumentKind::kTensor;
    case c10::TypeKind::DeviceObjType:
      return ArgumentKind::kDevice;
    case c10::TypeKind::ListType: {
      const c10::TypePtr element = type->castRaw<c10::ListType>()->getElementType();
      if (element->kind() == c10::TypeKind::TensorType) return ArgumentKind::kTensorList;
      if (element->kind() == c10::TypeKind::OptionalType &&
          element->castRaw<c10::OptionalType>()->getElementType()->kind() ==
              c10::TypeKind::TensorType) {
        return ArgumentKind::kOptionalTensorList;
      }
      return ArgumentKind::kOther;
    }
    default:
      return ArgumentKind::kOther;
  }
}

const OpInfo& InfoOf(const c10::OperatorHandle& op) {
  // By schema object, per thread: no lock on the way of every operator.
  thread_local std::unordered_map<const c10::FunctionSchema*, OpInfo> cache;
  const c10::FunctionSchema& schema = op.schema();
  OpInfo& info = cache[&schema];
  if (info.arguments.empty() && !schema.arguments().empty()) {
    for (const c10::Argument& argument : schema.arguments()) {
      info.arguments.push_back(KindOf(argument));
      const c10::AliasInfo* alias = argument.alias_info();
      info.written.push_back(alias != nullptr && alias->isWrite());
    }
    info.returns = schema.returns().size();
  }
  return info;
}

void* Data(const at::Tensor& tensor) { return tensor.storage().mutable_data(); }

// The arguments of one call as the Meta kernel sees them, and the way back.
class Call {
 public:
  at::Tensor Twin(const at::Tensor& tensor, bool written) {
    if (!tensor.defined() || !tensor.is_cuda()) return tensor;
    c10::Storage storage(c10::Storage::use_byte_size_t{}, tensor.storage().nbytes(),
                         c10::DataPtr(Data(tensor), c10::Device(c10::kMeta)), &MetaTwinAllocator(),
                         /*resizable=*/true);
    at::Tensor twin = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet(c10::DispatchKey::Meta), tensor.dtype());
    c10::TensorImpl* impl = twin.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
    bytes_ += tensor.numel() * tensor.element_size();
    inputs_.push_back(tensor);
    if (written) written_.emplace_back(tensor, twin);
    return twin;
  }

  // In-place and out arguments: what the Meta kernel did to the twin's shape happens to them.
  void SyncWritten() {
    for (auto& [tensor, twin] : written_) {
      if (tensor.sizes() == twin.sizes() && tensor.strides() == twin.strides()) continue;
      if (tensor.sizes() != twin.sizes()) tensor.resize_(twin.sizes());
      tensor.unsafeGetTensorImpl()->set_sizes_and_strides(twin.sizes(), twin.strides(),
                                                          twin.storage_offset());
    }
  }

  at::Tensor Return(at::Tensor result) {
    if (!result.defined()) return result;
    for (auto& [tensor, twin] : written_) {
      if (twin.is_same(result)) return tensor;
    }
    if (!result.is_meta()) return result;
    if (void* data = Data(result)) {
      for (const at::Tensor& input : inputs_) {
        if (Data(input) == data) return ViewOf(input, result);
      }
    }
    return Adopt(std::move(result));
  }

  bool launches() const { return makes_memory_ || !written_.empty(); }
  uint64_t bytes() const { return bytes_; }

 private:
  static at::Tensor ViewOf(const at::Tensor& input, const at::Tensor& meta) {
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
        c10::TensorImpl::VIEW, c10::Storage(input.storage()), input.key_set(), meta.dtype());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(meta.sizes(), meta.strides(),
                                                      meta.storage_offset());
    return view;
  }

  at::Tensor Adopt(at::Tensor meta) {
    makes_memory_ = true;
    bytes_ += meta.numel() * meta.element_size();
    c10::Storage from = meta.storage();
    const size_t bytes = from.nbytes();
    c10::DataPtr data = from.set_data_ptr(c10::DataPtr(nullptr, c10::Device(c10::kMeta)));
    data.unsafe_set_device(PlanDevice());
    c10::Storage storage(c10::Storage::use_byte_size_t{}, bytes, std::move(data), &PlanAllocator(),
                         /*resizable=*/true);
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), meta.dtype());
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(meta.sizes(), meta.strides(),
                                                        meta.storage_offset());
    return tensor;
  }

  c10::SmallVector<at::Tensor, 4> inputs_;
  c10::SmallVector<std::pair<at::Tensor, at::Tensor>, 2> written_;
  bool makes_memory_ = false;
  uint64_t bytes_ = 0;
};

}  // namespace

void Fallback(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const OpInfo& info = InfoOf(op);
  const size_t count = info.arguments.size();
  const size_t begin = stack->size() - count;
  Call call;
  for (size_t i = 0; i < count; ++i) {
    c10::IValue& value = (*stack)[begin + i];
    switch (info.arguments[i]) {
      case ArgumentKind::kTensor:
        if (value.isTensor()) {
          const at::Tensor& tensor = value.toTensor();
          if (tensor.defined() && tensor.is_cuda()) value = call.Twin(tensor, info.written[i]);
        }
        break;
      case ArgumentKind::kTensorList:
        if (value.isTensorList()) {
          c10::List<at::Tensor> twins;
          for (const at::Tensor& tensor : value.toTensorVector()) {
            twins.push_back(call.Twin(tensor, info.written[i]));
          }
          value = std::move(twins);
        }
        break;
      case ArgumentKind::kOptionalTensorList:
        if (value.isOptionalTensorList()) {
          c10::List<std::optional<at::Tensor>> twins;
          for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
            twins.push_back(tensor ? std::optional<at::Tensor>(call.Twin(*tensor, false)) : tensor);
          }
          value = std::move(twins);
        } else if (value.isTensorList()) {
          c10::List<at::Tensor> twins;
          for (const at::Tensor& tensor : value.toTensorVector()) {
            twins.push_back(call.Twin(tensor, false));
          }
          value = std::move(twins);
        }
        break;
      case ArgumentKind::kDevice:
        if (value.isDevice()) value = c10::Device(c10::kMeta);
        break;
      case ArgumentKind::kOther:
        break;
    }
  }
  {
    const MetaRequests requests;
    const c10::impl::ExcludeDispatchKeyGuard below_autograd(
        c10::autograd_dispatch_keyset | c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), stack);
  }
  call.SyncWritten();
  for (size_t i = 0; i < info.returns; ++i) {
    c10::IValue& value = (*stack)[stack->size() - info.returns + i];
    if (value.isTensor()) {
      // Taken off the stack first, so that the twin is not kept while its memory changes hands.
      at::Tensor result = std::move(value).toTensor();
      value = call.Return(std::move(result));
    } else if (value.isTensorList()) {
      std::vector<at::Tensor> results = value.toTensorVector();
      value = c10::IValue();
      c10::List<at::Tensor> list;
      for (at::Tensor& result : results) list.push_back(call.Return(std::move(result)));
      value = std::move(list);
    }
  }
  // A view costs nothing; what makes or writes memory is a kernel.
  if (call.launches()) PlanMemory::Get().roofline().Advance({.bytes = call.bytes()});
}

namespace {

// Structured operators have no CUDA kernel here, so LibTorch would run their composite form: shape,
// allocation, then a second dispatch to the out variant. CUDA's own kernels do it in one dispatch,
// and so does the Meta kernel, for half the time. Operators whose out variant is ours (it asks for
// scratch) keep the composite form.
void RegisterStructured() {
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__,
                                __LINE__);
  static const std::set<std::string_view> kOurs = {
      "addmm", "amax", "arange", "baddbmm", "bmm", "linalg_vector_norm",
      "max",   "mean", "mm",     "sum"};
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    constexpr std::string_view kNamespace = "aten::";
    if (!name.name.starts_with(kNamespace)) continue;
    const auto op = dispatcher.findSchema(name);
    using c10::DispatchKey;
    if (!op.has_value() || op->hasKernelForDispatchKey(DispatchKey::CUDA) ||
        !op->hasKernelForDispatchKey(DispatchKey::Meta) ||
        !op->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional)) {
      continue;
    }
    std::string local = name.name.substr(kNamespace.size());
    std::string_view base = local;
    if (base.ends_with('_')) base.remove_suffix(1);
    if (kOurs.contains(base)) continue;
    if (!name.overload_name.empty()) local += "." + name.overload_name;
    library.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&Fallback>());
  }
}

}  // namespace

void RegisterFallback() {
  static torch::Library library(torch::Library::IMPL, "_", c10::DispatchKey::CUDA, __FILE__,
                                __LINE__);
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&Fallback>());
  RegisterStructured();
}

}  // namespace vramscope::trainer::plan
