// Frees and reallocates the memory of a storage while tensors keep referring to it, like
// untyped_storage().resize_() in Python.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

namespace vramscope::trainer {

inline void ResizeStorage(const at::Tensor& tensor, size_t bytes) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  if (storage->nbytes() == bytes) return;
  if (bytes == 0) {
    storage->set_data_ptr_noswap(at::DataPtr(nullptr, tensor.device()));
  } else {
    const c10::DeviceGuard on(tensor.device());
    storage->set_data_ptr_noswap(storage->allocator()->allocate(bytes));
  }
  storage->set_nbytes(bytes);
}

}  // namespace vramscope::trainer
