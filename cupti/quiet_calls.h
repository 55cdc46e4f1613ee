// Lists CUDA calls that only query: they change, launch and await nothing. Nine of ten calls in a
// training step are such calls, because PyTorch queries the current device around every operator.
// They cause most of CUPTI's overhead, but are of no use in a trace. The numbers are those of
// CUPTI's cupti_runtime_cbid.h and cupti_driver_cbid.h, whose meaning never changes.
#pragma once

#include <cstdint>

namespace vramscope::cupti {

inline constexpr uint32_t kQuietRuntimeCalls[] = {
    1,   2,              // cudaDriverGetVersion, cudaRuntimeGetVersion
    3,   4,   440,       // cudaGetDeviceCount, cudaGetDeviceProperties
    10,  11,  12,  209,  // cudaGetLastError, PeekAtLastError, GetErrorString, GetErrorName
    15,  336,            // cudaFuncGetAttributes, cudaGetFuncBySymbol
    16,  17,             // cudaSetDevice, cudaGetDevice
    151, 200, 205,       // cudaPointerGetAttributes, DeviceGetAttribute, GetStreamPriorityRange
    207, 210, 251,       // cudaOccupancyMaxActiveBlocksPerMultiprocessor
    329, 432, 433,       // cudaOccupancy...: shared memory, clusters
    317,                 // cudaStreamIsCapturing
    324, 325, 409, 410,  // cudaStreamGetCaptureInfo
    461, 462, 502, 503,  // the same in CUDA 12.3; __cudaPush- and PopCallConfiguration
};

inline constexpr uint32_t kQuietDriverCalls[] = {
    2,   3,   4,   5,   9,  // cuDriverGetVersion, cuDeviceGet, GetCount, GetName, GetAttribute
    16,  795, 137, 296,     // cuCtxGetDevice, GetLimit, GetApiVersion
    303, 304, 370, 392,     // cuCtxSetCurrent, GetCurrent, priorities, cuDevicePrimaryCtxGetState
    85,  310, 450,          // cuFuncGetAttribute, cuPointerGetAttribute(s)
    135, 626, 677,          // cuGetExportTable, cuGetProcAddress
    372, 373,               // cuGetErrorString, cuGetErrorName
    374, 384, 451, 452,     // cuOccupancy...
    543, 675, 676,          // cuOccupancy...: shared memory, clusters
    681, 683, 686, 719,     // cuLibraryGetKernel, cuKernelGetFunction, GetAttribute, GetName
    697, 698, 781,          // cuTensorMapEncode...: encode descriptors on the host
};

}  // namespace vramscope::cupti
