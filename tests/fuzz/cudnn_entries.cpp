#include "tests/fuzz/cudnn_entries.h"

#include <array>
#include <cstring>
#include <iterator>
#include <vector>

#include "emulated/libraries/cudnn_descriptors.h"
#include "tests/fuzz/check.h"

using vramscope::emulated::cudnn::ConvolutionDescriptor;
using vramscope::emulated::cudnn::Handle;
using vramscope::emulated::cudnn::Tensor;
namespace vramscope::emulated::cudnn {
struct RnnDescriptor;
}
using vramscope::emulated::cudnn::RnnDescriptor;

extern "C" {
int cudnnBackendCreateDescriptor(int type, void** handle);
int cudnnBackendDestroyDescriptor(void* handle);
int cudnnBackendSetAttribute(void* handle, int attribute, int type, int64_t count,
                             const void* values);
int cudnnBackendGetAttribute(void* handle, int attribute, int type, int64_t wanted, int64_t* count,
                             void* out);
int cudnnBackendFinalize(void* handle);
int cudnnSetTensorNdDescriptor(Tensor* t, int type, int count, const int* dims, const int* strides);
int cudnnGetTensorNdDescriptor(const Tensor* t, int wanted, int* type, int* count, int* dims,
                               int* strides);
int cudnnGetTensorSizeInBytes(const Tensor* t, size_t* bytes);
int cudnnSetFilterNdDescriptor(Tensor* t, int type, int format, int count, const int* dims);
int cudnnDeriveBNTensorDescriptor(Tensor* derived, const Tensor* x, int mode);
int cudnnDropoutGetReserveSpaceSize(const Tensor* x, size_t* bytes);
int cudnnSetConvolutionNdDescriptor(ConvolutionDescriptor* c, int count, const int* padding,
                                    const int* stride, const int* dilation, int mode, int type);
int cudnnGetConvolutionNdForwardOutputDim(const ConvolutionDescriptor* c, const Tensor* x,
                                          const Tensor* w, int wanted, int* dims);
int cudnnGetConvolutionForwardWorkspaceSize(Handle*, const Tensor* x, const Tensor* w,
                                            const ConvolutionDescriptor* c, const Tensor* y, int,
                                            size_t* bytes);
int cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle*, const Tensor* x, const Tensor* dy,
                                                   const ConvolutionDescriptor* c, const Tensor* dw,
                                                   int, size_t* bytes);
int cudnnCreateRNNDescriptor(RnnDescriptor** r);
int cudnnDestroyRNNDescriptor(RnnDescriptor* r);
int cudnnSetRNNDescriptor_v6(Handle*, RnnDescriptor* r, int hidden, int layers, const void* dropout,
                             int input_mode, int direction, int cell, int algorithm, int type);
int cudnnSetRNNProjectionLayers(Handle*, RnnDescriptor* r, int projection, int);
int cudnnGetRNNParamsSize(Handle*, const RnnDescriptor* r, const Tensor* x, size_t* bytes,
                          int type);
int cudnnGetRNNWeightParams(Handle*, const RnnDescriptor* r, int pseudo_layer, size_t,
                            const void* weights, int linear, Tensor* matrix, void** matrix_at,
                            Tensor* bias, void** bias_at);
int cudnnGetRNNTrainingReserveSize(Handle*, const RnnDescriptor* r, int steps, Tensor* const* x,
                                   size_t* bytes);
}

namespace vramscope::fuzz {
namespace {

// The maximum number of elements, of up to eight bytes each, in an attribute's value.
constexpr int64_t kMost = 24;

// cuDNN's enum values that the library interprets. It stores other values as they are.
constexpr int kTypes[] = {2, 3, 4, 5, 10, 11, 12, 13, 15, 16, 17, 19, 22, 29, 30, 41, 43};
constexpr int kAttributes[] = {103,  201,  202,  300,  301,  302,  303,  304,  401,  402,  403,
                               405,  702,  703,  704,  705,  708,  709,  710,  711,  714,  715,
                               716,  717,  753,  756,  801,  802,  901,  902,  903,  906,  907,
                               1000, 1001, 1300, 1301, 1303, 1520, 1521, 1522, 1610, 1611, 2002,
                               2101, 2800, 2801, 2802, 2851, 2852, 2853};

class Calls {
 public:
  Calls(const uint8_t* data, size_t size) : data_(data), size_(size) {
    emulated::cudnn::Tensor none;
    tensors_.fill(none);
    cudnnCreateRNNDescriptor(&rnn_);
  }
  ~Calls() {
    for (void* handle : graph_)
      if (handle != nullptr) cudnnBackendDestroyDescriptor(handle);
    cudnnDestroyRNNDescriptor(rnn_);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void Run() {
    for (int i = 0; i < 400 && size_ > 0; ++i) switch (Byte() % 16) {
        case 0:
          return;
        case 1:
        case 2:
          Create();
          break;
        case 3:
        case 4:
        case 5:
        case 6:
          Set();
          break;
        case 7:
        case 8:
          Get();
          break;
        case 9:
          cudnnBackendFinalize(AHandle());
          break;
        case 10: {
          void*& handle = graph_[Byte() % graph_.size()];
          if (handle != nullptr) cudnnBackendDestroyDescriptor(handle);
          handle = nullptr;
          break;
        }
        case 11:
        case 12:
          Tensors();
          break;
        case 13:
        case 14:
          Convolutions();
          break;
        default:
          Recurrent();
      }
  }

 private:
  uint8_t Byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  template <class N>
  N Number() {
    // Most numbers are small. A few can be any number of the type.
    const uint8_t first = Byte();
    if (first < 250) return static_cast<N>(first % 70);
    N number = 0;
    for (size_t i = 0; i < sizeof number; ++i)
      number = static_cast<N>(static_cast<uint64_t>(number) << 8 | Byte());
    return number;
  }
  template <size_t n>
  int OneOf(const int (&all)[n]) {
    const uint8_t which = Byte();
    return which < 240 ? all[which % n] : Number<int>();
  }
  std::array<int, kMost> Ints() {
    std::array<int, kMost> all = {};
    for (int& number : all)
      if (size_ > 0) number = Number<int>();
    return all;
  }
  // Returns the size in bytes of an element of this type (cudnnBackendAttributeType_t).
  static size_t SizeOf(int type) {
    if (type == 2 || type == 24) return 1;  // boolean, char
    return type == 0 || type == 3 || type == 5 || type == 6 || type == 15 || type == 26 ? 8 : 4;
  }
  void* AHandle() { return graph_[Byte() % graph_.size()]; }
  Tensor& ATensor() { return tensors_[Byte() % tensors_.size()]; }

  void Create() {
    void*& handle = graph_[Byte() % graph_.size()];
    if (handle != nullptr) cudnnBackendDestroyDescriptor(handle);
    handle = nullptr;
    cudnnBackendCreateDescriptor(OneOf(kTypes), &handle);
  }

  void Set() {
    void* const handle = AHandle();
    const int attribute = OneOf(kAttributes);
    const int type = Byte() % 32;
    const int64_t count = Byte() % (kMost + 1);
    constexpr int kDescriptor = 15;
    if (type == kDescriptor) {
      std::vector<void*> values;
      for (int64_t i = 0; i < count; ++i) values.push_back(AHandle());
      cudnnBackendSetAttribute(handle, attribute, type, count, values.data());
    } else {
      std::vector<int64_t> values;
      for (int64_t i = 0; i < count; ++i) values.push_back(Number<int64_t>());
      cudnnBackendSetAttribute(handle, attribute, type, count, values.data());
    }
  }

  void Get() {
    void* const handle = AHandle();
    const int attribute = OneOf(kAttributes);
    const int type = Byte() % 32;
    const int64_t wanted = Byte() % (kMost + 1);
    // The buffer has exactly the size that is passed, so that ASan detects a write past its end.
    std::vector<unsigned char> out(static_cast<size_t>(wanted) * SizeOf(type));
    for (size_t at = 0; at + sizeof(void*) <= out.size(); at += sizeof(void*)) {
      void* const own = AHandle();
      std::memcpy(&out[at], &own, sizeof own);
    }
    int64_t count = 0;
    cudnnBackendGetAttribute(handle, attribute, type, wanted, Byte() % 8 == 0 ? nullptr : &count,
                             Byte() % 8 == 0 ? nullptr : out.data());
    Check(count >= 0, "a count below none");
  }

  void Tensors() {
    Tensor& tensor = ATensor();
    std::array<int, kMost> dims = Ints(), strides = Ints();
    const int count = Number<int>();
    size_t bytes = 0;
    if (Byte() % 2 == 0)
      cudnnSetTensorNdDescriptor(&tensor, Byte(), count, dims.data(),
                                 Byte() % 2 == 0 ? nullptr : strides.data());
    else
      cudnnSetFilterNdDescriptor(&tensor, Byte(), Byte() % 3, count, dims.data());
    int type = 0, has = 0;
    const int wanted = Byte() % (kMost + 1);
    cudnnGetTensorNdDescriptor(&tensor, wanted, &type, &has, dims.data(), strides.data());
    Check(has >= 0 && has <= emulated::cudnn::kMostDims, "dimensions that there are not");
    cudnnGetTensorSizeInBytes(&tensor, &bytes);
    cudnnDropoutGetReserveSpaceSize(&tensor, &bytes);
    cudnnDeriveBNTensorDescriptor(&ATensor(), &tensor, Byte() % 3);
  }

  void Convolutions() {
    const std::array<int, kMost> padding = Ints(), stride = Ints(), dilation = Ints();
    cudnnSetConvolutionNdDescriptor(&convolution_, Number<int>(), padding.data(), stride.data(),
                                    dilation.data(), Byte(), Byte());
    const Tensor &x = ATensor(), &w = ATensor(), &y = ATensor();
    std::array<int, kMost> dims = {};
    size_t bytes = 0;
    cudnnGetConvolutionNdForwardOutputDim(&convolution_, &x, &w, Byte() % kMost, dims.data());
    cudnnGetConvolutionForwardWorkspaceSize(nullptr, &x, &w, &convolution_, &y, 0, &bytes);
    cudnnGetConvolutionBackwardFilterWorkspaceSize(nullptr, &x, &y, &convolution_, &w, 0, &bytes);
  }

  void Recurrent() {
    const int hidden = Number<int>(), layers = Number<int>();
    cudnnSetRNNDescriptor_v6(nullptr, rnn_, hidden, layers, nullptr, Byte() % 3, Byte() % 3,
                             Byte() % 5, 0, Byte());
    if (Byte() % 3 == 0) cudnnSetRNNProjectionLayers(nullptr, rnn_, Number<int>(), 0);
    size_t bytes = 0;
    Tensor* const x = &ATensor();
    cudnnGetRNNParamsSize(nullptr, rnn_, x, &bytes, Byte());
    cudnnGetRNNTrainingReserveSize(nullptr, rnn_, Number<int>(), &x, &bytes);
    void *matrix = nullptr, *bias = nullptr;
    cudnnGetRNNWeightParams(nullptr, rnn_, Number<int>(), 0, nullptr, Number<int>(), &ATensor(),
                            &matrix, &ATensor(), &bias);
  }

  const uint8_t* data_;
  size_t size_;
  std::array<void*, 16> graph_ = {};
  std::array<Tensor, 6> tensors_;
  ConvolutionDescriptor convolution_;
  RnnDescriptor* rnn_ = nullptr;
};

}  // namespace

void CudnnDescriptors(const uint8_t* data, size_t size) { Calls(data, size).Run(); }

}  // namespace vramscope::fuzz
