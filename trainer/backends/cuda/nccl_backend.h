// Makes LibTorch's NCCL process group. Has a source file of its own, because LibTorch's header is
// large and needs types of NVIDIA's libraries, which opaque/ declares.
#pragma once

#include <c10/util/intrusive_ptr.h>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace vramscope::trainer::cuda {

c10::intrusive_ptr<c10d::Backend> MakeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int ranks);

}  // namespace vramscope::trainer::cuda
