// Copies (memcpy) and memsets.
#include "emulated/runtime/status.h"
#include "emulated/runtime/symbols.h"

namespace vramscope::emulated::runtime {
namespace {

constexpr size_t kMost = size_t{1} << 46;

Result FillRows(void* to, size_t pitch, int value, size_t width, size_t rows, void* stream,
                bool synchronous) {
  if (width == 0 || rows == 0) {
    return Result::kSuccess;
  }
  if (to == nullptr || width > pitch || rows > kMost / pitch) {
    return Result::kInvalidValue;
  }
  const unsigned char byte = static_cast<unsigned char>(value);
  if (pitch == width || rows == 1) {
    return Fill(to, &byte, 1, width * rows, stream, synchronous);
  }
  for (size_t row = 0; row < rows; ++row) {
    const Result result =
        Fill(static_cast<char*>(to) + row * pitch, &byte, 1, width, stream, false);
    if (result != Result::kSuccess) {
      return result;
    }
  }
  return synchronous ? ThePlatform().streams.Synchronize(stream) : Result::kSuccess;
}

Result Copy3D(const Copy3DParameters* p, void* stream, bool synchronous) {
  if (p == nullptr) {
    return Result::kInvalidValue;
  }
  if (p->srcArray != nullptr || p->dstArray != nullptr) {
    return Result::kNotSupported;  // textures
  }
  const size_t to_slice = p->dstPtr.pitch * p->dstPtr.ysize;
  const size_t from_slice = p->srcPtr.pitch * p->srcPtr.ysize;
  auto* to = static_cast<char*>(p->dstPtr.ptr) + p->dstPos.z * to_slice +
             p->dstPos.y * p->dstPtr.pitch + p->dstPos.x;
  const auto* from = static_cast<const char*>(p->srcPtr.ptr) + p->srcPos.z * from_slice +
                     p->srcPos.y * p->srcPtr.pitch + p->srcPos.x;
  for (size_t z = 0; z < p->extent.depth; ++z) {
    const Result result =
        CopyRows(to + z * to_slice, p->dstPtr.pitch, from + z * from_slice, p->srcPtr.pitch,
                 p->extent.width, p->extent.height, stream, synchronous);
    if (result != Result::kSuccess) {
      return result;
    }
  }
  return Result::kSuccess;
}

Result CopySymbol(const void* symbol, size_t offset, size_t bytes, void* other, bool to_symbol,
                  void* stream, bool synchronous) {
  void* address = nullptr;
  size_t size = 0;
  if (const Result result = AddressOfSymbol(symbol, &address, &size); result != Result::kSuccess) {
    return result;
  }
  if (offset > size || bytes > size - offset) {
    return Result::kInvalidValue;
  }
  char* at = static_cast<char*>(address) + offset;
  return to_symbol ? Copy(at, other, bytes, stream, synchronous)
                   : Copy(other, at, bytes, stream, synchronous);
}

}  // namespace
}  // namespace vramscope::emulated::runtime

using namespace vramscope::emulated;           // NOLINT: C functions follow
using namespace vramscope::emulated::runtime;  // NOLINT

extern "C" {

Error cudaMemcpy(void* to, const void* from, size_t bytes, int) {
  return Done(Copy(to, from, bytes, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemcpy)
Error cudaMemcpyAsync(void* to, const void* from, size_t bytes, int, void* stream) {
  return Done(Copy(to, from, bytes, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemcpyAsync)
Error cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return Done(Copy(to, from, bytes, nullptr, true));
}
Error cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, void* stream) {
  return Done(Copy(to, from, bytes, stream, false));
}
Error cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                   size_t height, int) {
  return Done(CopyRows(to, to_pitch, from, from_pitch, width, height, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemcpy2D)
Error cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                        size_t width, size_t height, int, void* stream) {
  return Done(CopyRows(to, to_pitch, from, from_pitch, width, height, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemcpy2DAsync)
Error cudaMemcpy3D(const Copy3DParameters* parameters) {
  return Done(Copy3D(parameters, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemcpy3D)
Error cudaMemcpy3DAsync(const Copy3DParameters* parameters, void* stream) {
  return Done(Copy3D(parameters, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemcpy3DAsync)

Error cudaMemset(void* to, int value, size_t bytes) {
  const unsigned char byte = static_cast<unsigned char>(value);
  return Done(Fill(to, &byte, 1, bytes, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemset)
Error cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  const unsigned char byte = static_cast<unsigned char>(value);
  return Done(Fill(to, &byte, 1, bytes, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemsetAsync)
Error cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return Done(FillRows(to, pitch, value, width, height, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemset2D)
Error cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                        void* stream) {
  return Done(FillRows(to, pitch, value, width, height, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemset2DAsync)

Error cudaGetSymbolAddress(void** address, const void* symbol) {
  size_t bytes = 0;
  return Done(AddressOfSymbol(symbol, address, &bytes));
}
Error cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  void* address = nullptr;
  return Done(AddressOfSymbol(symbol, &address, bytes));
}
Error cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int) {
  return Done(CopySymbol(symbol, offset, bytes, const_cast<void*>(from), true, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemcpyToSymbol)
Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                              int, void* stream) {
  return Done(CopySymbol(symbol, offset, bytes, const_cast<void*>(from), true, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemcpyToSymbolAsync)
Error cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int) {
  return Done(CopySymbol(symbol, offset, bytes, to, false, nullptr, true));
}
VRAMSCOPE_PER_THREAD_SYNCHRONOUS(cudaMemcpyFromSymbol)
Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int,
                                void* stream) {
  return Done(CopySymbol(symbol, offset, bytes, to, false, stream, false));
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMemcpyFromSymbolAsync)

}  // extern "C"
