#define USE_C10D_NCCL 1  // as in the build of LibTorch
#include "trainer/backends/cuda/nccl_backend.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace vramscope::trainer::cuda {

c10::intrusive_ptr<c10d::Backend> MakeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int ranks) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->group_name = std::string("0");
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("default_pg", store), rank, ranks, options);
}

}  // namespace vramscope::trainer::cuda
