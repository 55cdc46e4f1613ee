#include "trainer/techniques/quantised_weight.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <initializer_list>
#include <optional>
#include <utility>

#include "trainer/capture/modelled_kernel.h"
#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer {
namespace {

using at::indexing::Slice;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kBlock = 64;        // weights that share a scale
constexpr int64_t kScaleBlock = 256;  // scales that share a scale
constexpr int64_t kTable = 256;       // number of values that a byte of a scale can have
// columns with an activation of at least this absolute value are multiplied in 16 bits
constexpr double kOutlier = 6;

// The value of each 4-bit code, a quantile of the normal distribution (Dettmers et al. 2023, QLoRA,
// appendix E).
constexpr float kNormalFloat[16] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491748f,
                                    -0.28444138f, -0.18477343f, -0.09105003f, 0.0f,
                                    0.07958029f,  0.16093020f,  0.24611230f,  0.33791524f,
                                    0.44070983f,  0.56261700f,  0.72295684f,  1.0f};

at::Tensor NormalFloatTable() {
  return at::from_blob(const_cast<float*>(kNormalFloat), {16}).clone();
}

at::Tensor AsBuffer(const at::Tensor& tensor) {
  TagStorage(tensor, trace::Category::kBuffer, "state of a quantised weight");
  return tensor;
}

// Divides a flat tensor into blocks of `size` elements. Pads the last block with zeros.
at::Tensor Blocks(const at::Tensor& flat, int64_t size) {
  const int64_t blocks = (flat.numel() + size - 1) / size;
  return at::constant_pad_nd(flat, {0, blocks * size - flat.numel()}).view({-1, size});
}

// Allocates the output of a bitsandbytes kernel. The block's operator is the name of the kernel, to
// distinguish it from blocks of PyTorch's own operators.
template <class... Arguments>
at::Tensor Modelled(const char* kernel, Arguments&&... arguments) {
  RECORD_FUNCTION(kernel, c10::ArrayRef<const c10::IValue>());
  return at::empty(std::forward<Arguments>(arguments)...);
}
void Launch(const char* kernel, std::initializer_list<at::Tensor> touched, double flops = 0) {
  RECORD_FUNCTION(kernel, c10::ArrayRef<const c10::IValue>());
  uint64_t bytes = 0;
  for (const at::Tensor& tensor : touched) bytes += BytesOf(tensor);
  LaunchModelled(kernel, *touched.begin(), bytes, flops);
}
constexpr char kQuantise4[] = "bitsandbytes::quantize_4bit";
constexpr char kQuantiseScales[] = "bitsandbytes::quantize_blockwise";
constexpr char kDequantise4[] = "bitsandbytes::dequantize_4bit";
constexpr char kDequantiseScales[] = "bitsandbytes::dequantize_blockwise";
constexpr char kQuantise8[] = "bitsandbytes::int8_vectorwise_quant";
constexpr char kMultiply8[] = "bitsandbytes::int8_linear_matmul";
constexpr char kDequantise8[] = "bitsandbytes::int8_mm_dequant";

class Nf4Weight final : public QuantisedWeight {
 public:
  Nf4Weight(std::shared_ptr<ScaleTable> table, int64_t rows, int64_t columns, bool computes)
      : QuantisedWeight(rows, columns, computes), table_(std::move(table)) {}

  ParameterSpec stored() const override {
    return {.shape = {(rows_ * columns_ + 1) / 2, 1}, .dtype = at::kByte};
  }

  at::Tensor Keep(const at::Tensor& wide) override {
    at::NoGradGuard no_grad;
    type_ = wide.scalar_type();
    const auto device = wide.options().requires_grad(false);
    at::Tensor scales =
        Modelled(kQuantise4, at::IntArrayRef{scale_count()}, device.dtype(at::kFloat));
    kept_ = Modelled(kQuantise4, stored().shape, device.dtype(at::kByte));
    Launch(kQuantise4, {wide, scales, kept_});
    if (computes_) Quantise(wide, scales);
    codes_ = AsBuffer(NormalFloatTable().to(wide.device(), /*non_blocking=*/false, /*copy=*/true));
    {
      at::Tensor largest = codes_.abs();
      largest = largest.max();
      codes_.div_(largest);  // the maximum is 1, but get_4bit_type divides anyway
    }
    mean_ = AsBuffer(scales.mean());
    at::Tensor centred = scales - mean_;
    if (!table_->values.defined()) {
      table_->values = AsBuffer(at::linspace(-1, 1, kTable, at::TensorOptions().dtype(at::kFloat))
                                    .to(wide.device(), /*non_blocking=*/false, /*copy=*/true));
    }
    const int64_t groups = (scale_count() + kScaleBlock - 1) / kScaleBlock;
    scales_of_scales_ =
        AsBuffer(Modelled(kQuantiseScales, at::IntArrayRef{groups}, device.dtype(at::kFloat)));
    bytes_ = AsBuffer(Modelled(kQuantiseScales, centred.sizes(), device.dtype(at::kByte)));
    Launch(kQuantiseScales, {centred, scales_of_scales_, bytes_});
    own_table_ = AsBuffer(table_->values.clone());
    if (computes_) {
      const at::Tensor blocks = Blocks(centred, kScaleBlock);
      scales_of_scales_.copy_(blocks.abs().amax(1).clamp_min(1e-12));
      const at::Tensor unit = blocks / scales_of_scales_.unsqueeze(1);
      bytes_.copy_(((unit + 1) * 127.5).round().flatten().slice(0, 0, scale_count()));
    }
    return kept_;
  }

  // Computes in the type that the weights had (bnb_4bit_compute_dtype), even if x has another type.
  at::Tensor Product(const at::Tensor& x, const at::Tensor& bias) override;

  at::Tensor Wide(at::ScalarType type) const override {
    at::Tensor scales = Centred();
    scales.add_(mean_);
    at::Tensor wide = Unpacked(scales, type_);
    scales.reset();
    return wide.to(type);
  }

  // As in the Python function, the local variables keep their tensors until it returns.
  at::Tensor Multiplied(const at::Tensor& x, const at::Tensor& bias) const {
    const at::Tensor centred = Centred();
    const at::Tensor scales = centred + mean_;
    const at::Tensor wide = Unpacked(scales, x.scalar_type());
    return bias.defined() ? at::linear(x, wide, bias) : at::linear(x, wide);
  }

  void Release() override {
    QuantisedWeight::Release();
    for (at::Tensor* tensor :
         {&codes_, &mean_, &scales_of_scales_, &bytes_, &own_table_, &table_->values}) {
      tensor->reset();
    }
  }

 private:
  int64_t scale_count() const { return (rows_ * columns_ + kBlock - 1) / kBlock; }

  // The scales minus their mean.
  at::Tensor Centred() const {
    at::Tensor scales =
        Modelled(kDequantiseScales, bytes_.sizes(), bytes_.options().dtype(at::kFloat));
    Launch(kDequantiseScales, {bytes_, scales_of_scales_, scales});
    if (!computes_) return scales;
    const at::Tensor of_each =
        scales_of_scales_.repeat_interleave(kScaleBlock).slice(0, 0, scale_count());
    return scales.copy_(own_table_.index({bytes_.to(at::kLong)}) * of_each);
  }

  at::Tensor Unpacked(const at::Tensor& scales, at::ScalarType type) const {
    if (!computes_) {
      at::Tensor wide =
          Modelled(kDequantise4, at::IntArrayRef{rows_, columns_}, kept_.options().dtype(type));
      Launch(kDequantise4, {kept_, scales, wide});
      return wide;
    }
    const at::Tensor bytes = kept_.flatten();
    const at::Tensor pairs =
        at::stack({bytes.bitwise_right_shift(4), bytes.bitwise_and(15)}, 1).flatten();
    const int64_t count = rows_ * columns_;
    const at::Tensor values =
        Blocks(codes_.index({pairs.slice(0, 0, count).to(at::kLong)}), kBlock);
    return (values * scales.unsqueeze(1))
        .flatten()
        .slice(0, 0, count)
        .view({rows_, columns_})
        .to(type);
  }

  void Quantise(const at::Tensor& wide, at::Tensor& scales) {
    const at::Tensor blocks = Blocks(wide.to(at::kFloat).flatten(), kBlock);
    scales.copy_(blocks.abs().amax(1).clamp_min(1e-12));
    // A number's code is the index of the nearest of the sixteen values. bucketize() returns it by
    // counting the midpoints below the number.
    const at::Tensor table = NormalFloatTable();
    const at::Tensor middles = (table.slice(0, 1) + table.slice(0, 0, 15)) / 2;
    const at::Tensor codes = at::bucketize((blocks / scales.unsqueeze(1)).flatten(), middles)
                                 .slice(0, 0, rows_ * columns_)
                                 .to(at::kByte);
    const at::Tensor pairs = Blocks(codes, 2);
    kept_.copy_((pairs.select(1, 0) * 16 + pairs.select(1, 1)).view({-1, 1}));
  }

  std::shared_ptr<ScaleTable> table_;
  at::ScalarType type_ = at::kFloat;
  at::Tensor codes_, mean_, scales_of_scales_, bytes_, own_table_;  // bytes_: the scales
};

class Int8Weight final : public QuantisedWeight {
 public:
  using QuantisedWeight::QuantisedWeight;

  ParameterSpec stored() const override { return {.shape = {rows_, columns_}, .dtype = at::kChar}; }

  at::Tensor Keep(const at::Tensor& wide) override {
    at::NoGradGuard no_grad;
    const at::Tensor narrow = wide.to(at::kHalf);
    scales_ =
        AsBuffer(Modelled(kQuantise8, at::IntArrayRef{rows_}, narrow.options().dtype(at::kFloat)));
    kept_ =
        Modelled(kQuantise8, at::IntArrayRef{rows_, columns_}, narrow.options().dtype(at::kChar));
    // The kernel reads each row twice, first to find its maximum.
    Launch(kQuantise8, {narrow, narrow, kept_, scales_});
    if (computes_) {
      const at::Tensor values = wide.to(at::kFloat);
      scales_.copy_(values.abs().amax(1).clamp_min(1e-12));
      kept_.copy_((values * (127 / scales_).unsqueeze(1)).round());
    }
    return kept_;
  }

  at::Tensor Product(const at::Tensor& x, const at::Tensor& bias) override;

  at::Tensor Wide(at::ScalarType type) const override {
    at::Tensor wide = kept_.to(type, /*non_blocking=*/false, /*copy=*/true);
    return wide.mul_(scales_.unsqueeze(1).mul(1.0 / 127));
  }

  // `x`: [tokens, columns]. Tokens and weights are bytes; products are summed in 32 bits.
  at::Tensor Multiplied(const at::Tensor& x, const at::Tensor& bias) const {
    at::Tensor narrow = x.to(at::kHalf);
    const at::Tensor scales =
        Modelled(kQuantise8, at::IntArrayRef{x.size(0)}, narrow.options().dtype(at::kFloat));
    at::Tensor bytes = Modelled(kQuantise8, narrow.sizes(), narrow.options().dtype(at::kChar));
    Launch(kQuantise8, {narrow, narrow, bytes, scales});
    const at::Tensor columns = WithoutOutliers(narrow, bytes);
    narrow.reset();
    if (computes_) return Computed(x, bias, columns);
    at::Tensor sums =
        Modelled(kMultiply8, at::IntArrayRef{x.size(0), rows_}, bytes.options().dtype(at::kInt));
    Launch(kMultiply8, {bytes, kept_, sums}, 2.0 * static_cast<double>(sums.numel() * columns_));
    at::Tensor product = Modelled(kDequantise8, sums.sizes(), sums.options().dtype(at::kHalf));
    Launch(kDequantise8, {sums, product});
    if (bias.defined() && bias.scalar_type() != at::kHalf) product.add_(bias);
    at::Tensor typed = product.to(x.scalar_type());
    product.reset();
    sums.reset();
    return typed;
  }

  void Release() override {
    QuantisedWeight::Release();
    scales_.reset();
  }

 private:
  // Returns the columns that have an outlier, and sets their bytes to 0.
  static at::Tensor WithoutOutliers(const at::Tensor& x, at::Tensor& bytes) {
    at::Tensor outliers = at::ge(x.abs(), kOutlier);
    at::Tensor columns;
    if (outliers.any().item<bool>()) {
      columns = at::argwhere(outliers.any(0)).view(-1);
    } else {
      columns = at::empty({0}, x.options().dtype(at::kLong));
    }
    if (x.size(0) > 1) bytes.index_put_({Slice(), columns}, 0);
    return columns;
  }

  at::Tensor Computed(const at::Tensor& x, const at::Tensor& bias,
                      const at::Tensor& outliers) const {
    at::Tensor inliers = x.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    const at::Tensor beside = inliers.index({Slice(), outliers});
    inliers.index_put_({Slice(), outliers}, 0);
    const at::Tensor scale = inliers.abs().amax(1, /*keepdim=*/true).clamp_min(1e-12);
    const at::Tensor rounded = (inliers * (127 / scale)).round() * (scale / 127);
    const at::Tensor wide = Wide(at::kFloat);
    at::Tensor out =
        at::matmul(rounded, wide.t()) + at::matmul(beside, wide.index({Slice(), outliers}).t());
    return (bias.defined() ? out + bias : out).to(x.scalar_type());
  }

  at::Tensor scales_;  // one scale for each row
};

// Returns nullopt for an undefined tensor, because autograd's functions accept no such tensor.
std::optional<at::Tensor> Given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

struct Nf4Product : torch::autograd::Function<Nf4Product> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& bias,
                            const c10::intrusive_ptr<Nf4Weight>& weight) {
    context->saved_data["weight"] = c10::IValue::make_capsule(weight);
    return weight->Multiplied(x, bias.value_or(at::Tensor()));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto weight =
        c10::static_intrusive_pointer_cast<Nf4Weight>(context->saved_data["weight"].toCapsule());
    return {at::matmul(gradients[0], weight->Wide(gradients[0].scalar_type())), at::Tensor(),
            at::Tensor()};
  }
};

struct Int8Product : torch::autograd::Function<Int8Product> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& bias,
                            const c10::intrusive_ptr<Int8Weight>& weight) {
    const at::Tensor tokens = x.reshape({-1, x.size(-1)});
    context->saved_data["weight"] = c10::IValue::make_capsule(weight);
    // Like bitsandbytes, bypasses save_for_backward: the tensor lives until the graph is freed.
    context->saved_data["tokens"] = tokens;
    context->saved_data["sizes"] = x.sizes().vec();
    std::vector<int64_t> sizes = x.sizes().vec();
    at::Tensor product = weight->Multiplied(tokens, bias.value_or(at::Tensor()));
    sizes.back() = product.size(-1);
    return product.view(sizes);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto weight =
        c10::static_intrusive_pointer_cast<Int8Weight>(context->saved_data["weight"].toCapsule());
    const at::ScalarType type = context->saved_data["tokens"].toTensor().scalar_type();
    const at::Tensor gradient = gradients[0].reshape({-1, gradients[0].size(-1)}).contiguous();
    const at::Tensor wide = weight->Wide(type);
    return {at::matmul(gradient.to(type), wide).view(context->saved_data["sizes"].toIntVector()),
            at::Tensor(), at::Tensor()};
  }
};

at::Tensor Nf4Weight::Product(const at::Tensor& x, const at::Tensor& bias) {
  const auto self = c10::intrusive_ptr<Nf4Weight>::reclaim_copy(this);
  return Nf4Product::apply(x.to(type_), Given(bias), self).to(x.scalar_type());
}

at::Tensor Int8Weight::Product(const at::Tensor& x, const at::Tensor& bias) {
  return Int8Product::apply(x, Given(bias), c10::intrusive_ptr<Int8Weight>::reclaim_copy(this));
}

}  // namespace

c10::intrusive_ptr<QuantisedWeight> MakeNf4Weight(std::shared_ptr<ScaleTable> table, int64_t rows,
                                                  int64_t columns, bool computes) {
  return c10::make_intrusive<Nf4Weight>(std::move(table), rows, columns, computes);
}

c10::intrusive_ptr<QuantisedWeight> MakeInt8Weight(int64_t rows, int64_t columns, bool computes) {
  return c10::make_intrusive<Int8Weight>(rows, columns, computes);
}

}  // namespace vramscope::trainer
