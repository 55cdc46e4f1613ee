// Process groups for a process that acts as one of many ranks. The process does not communicate,
// but assumes the values of the other ranks.
//
//   auto store = MakeLoneStore();
//   auto group = MakeProcessGroup(store, MakeEqualRanks(rank, ranks), c10::kCPU);
//
// A group belongs to one run and is used on the run's thread and on autograd's thread.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace vramscope::trainer {

// Returns a store with the values that this rank has stored. For all other keys, the store returns
// as many zero bytes as NCCL's unique id has.
c10::intrusive_ptr<c10d::Store> MakeLoneStore();

// Collectives on host memory. They complete at once, as if the values of all ranks were the same.
c10::intrusive_ptr<c10d::Backend> MakeEqualRanks(int rank, int ranks);

// Makes the group just as torch.distributed.init_process_group makes the default group.
c10::intrusive_ptr<c10d::ProcessGroup> MakeProcessGroup(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend,
    c10::DeviceType device);

}  // namespace vramscope::trainer
