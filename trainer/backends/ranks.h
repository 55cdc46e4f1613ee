// A process that acts as one rank of many: it does not communicate, and values of other ranks are
// assumed.
//
//   auto store = MakeLoneStore();
//   auto group = MakeProcessGroup(store, MakeEqualRanks(rank, ranks), c10::kCPU);
//
// A group belongs to one run and is used on the run's thread and autograd's.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace vramscope::trainer {

// Returns the values that this rank has stored. For other keys it returns zeros, as many as NCCL's
// unique id has bytes.
c10::intrusive_ptr<c10d::Store> MakeLoneStore();

// Collectives on host memory that complete at once. All ranks have equal values.
c10::intrusive_ptr<c10d::Backend> MakeEqualRanks(int rank, int ranks);

// Makes the group in the same way as torch.distributed.init_process_group makes the default group.
c10::intrusive_ptr<c10d::ProcessGroup> MakeProcessGroup(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend,
    c10::DeviceType device);

}  // namespace vramscope::trainer
