// Builds the parameters of a kernel launch, for tests of the rules that read them.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace vramscope::emulated {

// Returns the device address that represents the tensor with that name.
inline uint64_t At(char name) { return uint64_t{1} << 40 | static_cast<uint64_t>(name) << 20; }

// Names as torch 2.11 registers them.
inline constexpr char kLayerNorm[] =
    "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28vectorized_layer_norm_"
    "kernelIN3c104HalfEfLb0EEEviT0_PKT_S8_S8_PS5_S9_PS6_";
inline constexpr char kReduce[] =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIbZZZNS0_14or_"
    "kernel_"
    "cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE5_clEvEUlffE_EEjbLi4ELi4EEEEEvT1_";
inline constexpr char kGather[] =
    "_ZN2at6native24vectorized_gather_kernelILi16EiEEvPcS2_PT0_illllb";
inline constexpr char kDropout[] =
    "_ZN2at6native43_GLOBAL__N__50f1b6c4_10_Dropout_cu_0e96ed3824fused_dropout_kernel_"
    "vecIN3c104Half"
    "EfjLi1ELi16EbEEvNS_4cuda6detail10TensorInfoIKT_T1_EENS7_IS8_SA_EENS7_IT4_SA_EESA_T0_NS_"
    "15PhiloxCudaStateE";

// Holds parameters of the given sizes in bytes. Parameters larger than 8 bytes are filled as if by
// an earlier launch.
template <class Self>
class LaunchedWith {
 public:
  explicit LaunchedWith(std::vector<uint16_t> sizes) : sizes_(std::move(sizes)) {
    for (const uint16_t size : sizes_) {
      std::vector<uint64_t>& words = held_.emplace_back((size + 7) / 8, 0);
      if (size > 8)
        for (uint64_t& word : words) word = At('?');
    }
    for (std::vector<uint64_t>& words : held_) parameters_.push_back(words.data());
  }
  template <class T>
  Self& Put(size_t parameter, size_t at, T value) {
    std::memcpy(reinterpret_cast<char*>(held_[parameter].data()) + at, &value, sizeof value);
    return static_cast<Self&>(*this);
  }
  Self& Put(size_t parameter, size_t at, char name) { return Put(parameter, at, At(name)); }
  const std::vector<uint16_t>& sizes() const { return sizes_; }
  void** parameters() { return parameters_.data(); }

 private:
  std::vector<uint16_t> sizes_;
  std::vector<std::vector<uint64_t>> held_;
  std::vector<void*> parameters_;
};

}  // namespace vramscope::emulated
