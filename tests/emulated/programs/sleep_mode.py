"""Copies weights in a memory pool based on cuMemCreate to the host, releases their memory, and maps new memory at their addresses,
with the same calls as vLLM's sleep mode (CuMemAllocator). Prints the used GPU memory in MiB: with weights, asleep, awake."""
import ctypes

import torch

driver = ctypes.CDLL("libcuda.so.1")
GRANULE = 2 << 20


class Properties(ctypes.Structure):  # CUmemAllocationProp: pinned memory of a device
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location_type", ctypes.c_int), ("location", ctypes.c_int),
                ("meta", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):
    _fields_ = [("location_type", ctypes.c_int), ("location", ctypes.c_int), ("flags", ctypes.c_int)]


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status:
        raise RuntimeError("%s: %d" % (name, status))


pieces = {}  # address: (bytes, handle)


def back(address, size):
    """Maps new memory at an address that stayed reserved."""
    handle, properties, access = ctypes.c_ulonglong(), Properties(1, 0, 1, 0), Access(1, 0, 3)
    call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(properties), ctypes.c_ulonglong(0))
    call("cuMemMap", ctypes.c_ulonglong(address), ctypes.c_size_t(size), ctypes.c_size_t(0), handle, ctypes.c_ulonglong(0))
    call("cuMemSetAccess", ctypes.c_ulonglong(address), ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
    pieces[address] = (size, handle)


def give_back(address):
    size, handle = pieces[address]
    call("cuMemUnmap", ctypes.c_ulonglong(address), ctypes.c_size_t(size))
    call("cuMemRelease", handle)


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
def allocate(size, device, stream):
    size = (size + GRANULE - 1) // GRANULE * GRANULE
    address = ctypes.c_ulonglong()
    call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0), ctypes.c_ulonglong(0),
         ctypes.c_ulonglong(0))
    back(address.value, size)
    return address.value


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
def free(address, size, device, stream):
    give_back(address)
    size, _ = pieces.pop(address)
    call("cuMemAddressFree", ctypes.c_ulonglong(address), ctypes.c_size_t(size))


def taken():
    return (free_at_first - torch.cuda.mem_get_info()[0]) >> 20


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


torch.zeros(1, device="cuda")
runtime = ctypes.CDLL("libcudart.so." + torch.version.cuda.split(".")[0])
free_at_first = torch.cuda.mem_get_info()[0]
pool = torch.cuda.MemPool(torch._C._cuda_customAllocator(address_of(allocate), address_of(free)))
with torch.cuda.use_mem_pool(pool):
    weights = torch.zeros(1 << 28, device="cuda")
figures = [taken()]
copies = {}
for address, (size, _) in pieces.items():
    copies[address] = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    status = runtime.cudaMemcpy(ctypes.c_void_p(copies[address].data_ptr()), ctypes.c_void_p(address), ctypes.c_size_t(size), 4)
    assert status == 0, status
    give_back(address)
figures.append(taken())
for address, copy in copies.items():
    back(address, copy.numel())
    assert runtime.cudaMemcpy(ctypes.c_void_p(address), ctypes.c_void_p(copy.data_ptr()), ctypes.c_size_t(copy.numel()), 4) == 0
figures.append(taken())
print("taken", *figures, tuple(weights.shape), flush=True)
