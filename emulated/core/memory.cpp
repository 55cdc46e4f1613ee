#include "emulated/core/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace vramscope::emulated {
namespace {

// The first emulated addresses. They are far from the addresses of the loader and of malloc. They
// are the same in every run, because traces contain addresses.
#ifdef __SANITIZE_ADDRESS__  // its shadow memory and its heap are at the usual addresses
constexpr uint64_t kFirstAddress = uint64_t{0x101000000000};
constexpr uint64_t kReservations = uint64_t{0x650000000000};
#else
constexpr uint64_t kFirstAddress = uint64_t{0x100000000000};
constexpr uint64_t kReservations = uint64_t{0x600000000000};
#endif
constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostReserved = uint64_t{1} << 44;  // 16 TiB

uint64_t SpanOf(const Gpu& gpu) {
  constexpr uint64_t kLeast = uint64_t{1} << 41;
  return std::max(kLeast, RoundUp(2 * gpu.memory_bytes, kLeast));
}

// Reserves address space, which takes no memory until it is accessed. Returns 0 on failure.
uint64_t MapNear(uint64_t wanted, uint64_t bytes) {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = MAP_FAILED;
  if (wanted != 0) {
    at = mmap(reinterpret_cast<void*>(wanted), bytes, kProtection, kFlags | MAP_FIXED_NOREPLACE, -1,
              0);
  }
  if (at == MAP_FAILED) {
    at = mmap(nullptr, bytes, kProtection, kFlags, -1, 0);
  }
  if (at == MAP_FAILED) {
    return 0;
  }
  madvise(at, bytes, MADV_NOHUGEPAGE);  // a few known bytes must not take 2 MiB
  madvise(at, bytes, MADV_DONTDUMP);
  return reinterpret_cast<uint64_t>(at);
}

// For ranges of at least this size, looking up the mapping is cheaper than writing zeros.
constexpr uint64_t kLookedUp = uint64_t{4} << 20;

// Returns whether all pages are private and not backed by a file, like memory from malloc.
bool IsPrivateAndAnonymous(uint64_t begin, uint64_t end) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                       std::fclose);
  if (maps == nullptr) {
    return false;
  }
  char line[4352];  // a path has at most 4096 bytes
  while (begin < end && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    uint64_t first = 0, last = 0, inode = 1;
    char access[5] = {};
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64, &first, &last, access,
                    &inode) != 4 ||
        last <= begin) {
      continue;
    }
    if (first > begin || std::strcmp(access, "rw-p") != 0 || inode != 0) {
      return false;
    }
    begin = last;
  }
  return begin >= end;
}

}  // namespace

Memory::Memory(std::span<const Gpu> gpus, Placement placement, OnFreed on_freed, void* context)
    : next_reservation_(kReservations),
      placement_(placement),
      on_freed_(on_freed),
      context_(context) {
  uint64_t wanted = kFirstAddress;
  for (const Gpu& gpu : gpus) {
    Device device;
    device.Set(gpu);
    // The address space is much larger than the memory, so that fragmented free addresses never
    // make an allocation fail.
    const uint64_t span = SpanOf(gpu);
    const uint64_t mapped = MapNear(wanted, span + AddressSpace::kGranule);
    if (mapped == 0) {
      std::fprintf(stderr,
                   "vramscope: the system refuses %llu GiB of address space (ulimit -v, or "
                   "vm.overcommit_memory=2): every allocation of the program will fail\n",
                   static_cast<unsigned long long>(span >> 30));
      device.limit = 0;
    }
    const uint64_t base = RoundUp(mapped, AddressSpace::kGranule);
    device.mapped = mapped;
    device.mapped_bytes = mapped == 0 ? 0 : span + AddressSpace::kGranule;
    device.addresses = std::make_unique<AddressSpace>(base, mapped == 0 ? 0 : span, placement);
    wanted += span + (uint64_t{1} << 30);
    devices_.push_back(std::move(device));
  }
}

Memory::~Memory() {
  for (const Device& device : devices_) {
    if (device.mapped != 0) {
      munmap(reinterpret_cast<void*>(device.mapped), device.mapped_bytes);
    }
  }
  for (const auto& [address, bytes] : reserved_) {
    munmap(reinterpret_cast<void*>(address), bytes);
  }
  for (const auto& [address, range] : host_) {
    if (range.ours) {
      munmap(reinterpret_cast<void*>(address), range.bytes);
    }
  }
}

void Memory::Publish(int device) const {
  if (processes_ != nullptr) {
    const Device& d = devices_[device];
    processes_->Hold(device, d.used + (d.has_context ? d.context : 0));
  }
}

uint64_t Memory::used_by_other_processes(int device) const {
  return processes_ == nullptr ? 0 : processes_->UsedByOtherProcesses(device);
}

void Memory::TakeContext(int device) {
  std::lock_guard lock(mutex_);
  if (Known(device)) {
    devices_[device].has_context = true;
    Publish(device);
  }
}

bool Memory::TakeLocked(int device, uint64_t bytes, std::unique_lock<std::mutex>* lock) {
  Device& d = devices_[device];
  // Publishes the use before the check. So if two processes request the last memory at the same
  // time, at most one of them gets it.
  d.used += bytes;
  Publish(device);
  const uint64_t taken = d.used - bytes + used_by_other_processes(device);
  const uint64_t left = d.limit - std::min(taken, d.limit);
  if (bytes > left) {
    d.used -= bytes;
    Publish(device);
    static thread_local std::pair<int, uint64_t> refused = {-1, 0};
    const std::pair<int, uint64_t> asked = {device, bytes};
    if (on_overcommit_ == nullptr || refused != asked) {
      refused = asked;
      return false;
    }
    refused = {-1, 0};
    lock->unlock();  // the observer may query the memory
    on_overcommit_(overcommit_context_, device, bytes, left);
    lock->lock();
    d.used += bytes;
    Publish(device);
  }
  d.most_used = std::max(d.most_used, d.used);
  return true;
}

void Memory::Emptied(uint64_t address, uint64_t bytes) {
  madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTNEED);
  if (on_freed_ != nullptr) {
    on_freed_(context_, address, bytes);
  }
}

Result Memory::Allocate(int device, uint64_t bytes, void** address) {
  std::unique_lock lock(mutex_);
  *address = nullptr;
  if (!Known(device)) {
    return Result::kInvalidDevice;
  }
  if (bytes == 0) {
    return Result::kSuccess;
  }
  if (bytes > devices_[device].addresses->span()) {
    return Result::kOutOfMemory;  // before rounding, which could overflow
  }
  bytes = RoundUp(bytes, AddressSpace::kGranule);
  if (!TakeLocked(device, bytes, &lock)) {
    return Result::kOutOfMemory;
  }
  const uint64_t at = devices_[device].addresses->Take(bytes);
  if (at == 0) {
    devices_[device].used -= bytes;
    Publish(device);
    return Result::kOutOfMemory;
  }
  devices_[device].blocks[at] = bytes;
  *address = reinterpret_cast<void*>(at);
  return Result::kSuccess;
}

Result Memory::Free(void* address) {
  if (address == nullptr) {
    return Result::kSuccess;
  }
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(mutex_);
  for (Device& device : devices_) {
    if (!device.addresses->Contains(at)) {
      continue;
    }
    const auto it = device.blocks.find(at);
    if (it == device.blocks.end()) {
      return Result::kInvalidValue;
    }
    const uint64_t bytes = it->second;
    device.blocks.erase(it);
    device.used -= bytes;
    Publish(static_cast<int>(&device - devices_.data()));
    Emptied(at, bytes);
    device.addresses->Give(at, bytes);
    return Result::kSuccess;
  }
  const auto it = host_.find(at);
  if (it == host_.end() || it->second.kind != MemoryKind::kManaged) {
    return Result::kInvalidValue;
  }
  munmap(address, it->second.bytes);
  host_.erase(it);
  return Result::kSuccess;
}

Result Memory::TakePhysical(int device, uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (!Known(device)) {
    return Result::kInvalidDevice;
  }
  return TakeLocked(device, bytes, &lock) ? Result::kSuccess : Result::kOutOfMemory;
}

void Memory::GivePhysical(int device, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (Known(device)) {
    devices_[device].used -= std::min(bytes, devices_[device].used);
    Publish(device);
  }
}

Result Memory::ReserveAddresses(uint64_t bytes, uint64_t alignment, void** address) {
  *address = nullptr;
  if (bytes == 0 || bytes > kMostReserved || alignment > kMostReserved ||
      (alignment & (alignment - 1)) != 0) {
    return Result::kInvalidValue;
  }
  std::lock_guard lock(mutex_);
  bytes = RoundUp(bytes, AddressSpace::kGranule);
  alignment = std::max(alignment, AddressSpace::kGranule);
  // Reserves more for the alignment. The addresses that are not needed are then unmapped.
  const uint64_t wanted = RoundUp(next_reservation_, alignment);
  const uint64_t mapped = MapNear(wanted, bytes + alignment);
  if (mapped == 0) {
    return Result::kOutOfMemory;
  }
  const uint64_t at = RoundUp(mapped, alignment);
  if (at > mapped) {
    munmap(reinterpret_cast<void*>(mapped), at - mapped);
  }
  if (const uint64_t end = mapped + bytes + alignment; end > at + bytes) {
    munmap(reinterpret_cast<void*>(at + bytes), end - at - bytes);
  }
  reserved_[at] = bytes;
  next_reservation_ = std::max(next_reservation_, at + bytes + AddressSpace::kGranule);
  *address = reinterpret_cast<void*>(at);
  return Result::kSuccess;
}

Result Memory::ReleaseAddresses(void* address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto it = reserved_.find(reinterpret_cast<uint64_t>(address));
  if (it == reserved_.end() || it->second != RoundUp(bytes, AddressSpace::kGranule)) {
    return Result::kInvalidValue;
  }
  const uint64_t end = it->first + it->second;
  for (auto mapped = mapped_.lower_bound(it->first);
       mapped != mapped_.end() && mapped->first < end;) {
    mapped = mapped_.erase(mapped);
  }
  if (on_freed_ != nullptr) {
    on_freed_(context_, it->first, it->second);
  }
  munmap(address, it->second);
  reserved_.erase(it);
  return Result::kSuccess;
}

Result Memory::SetMapped(void* address, uint64_t bytes, int device) {
  std::lock_guard lock(mutex_);
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  auto it = reserved_.upper_bound(at);
  if (it == reserved_.begin()) {
    return Result::kInvalidValue;
  }
  --it;
  if (at + bytes < at || at + bytes > it->first + it->second) {
    return Result::kInvalidValue;
  }
  if (device >= 0) {
    mapped_[at] = {bytes, device};
    return Result::kSuccess;
  }
  for (auto mapped = mapped_.lower_bound(at);
       mapped != mapped_.end() && mapped->first < at + bytes;) {
    mapped = mapped_.erase(mapped);
  }
  Emptied(at, bytes);
  return Result::kSuccess;
}

Result Memory::MapHost(uint64_t bytes, MemoryKind kind, void** address) {
  *address = nullptr;
  if (bytes == 0) {
    return Result::kSuccess;
  }
  if (bytes > kMostReserved) {
    return Result::kOutOfMemory;
  }
  bytes = RoundUp(bytes, kPage);
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return Result::kOutOfMemory;
  }
  std::lock_guard lock(mutex_);
  host_[reinterpret_cast<uint64_t>(at)] = {bytes, kind, true};
  *address = at;
  return Result::kSuccess;
}

Result Memory::AllocateHost(uint64_t bytes, void** address) {
  return MapHost(bytes, MemoryKind::kHost, address);
}

bool Memory::IsOurs(uint64_t begin, uint64_t end) const {
  std::lock_guard lock(mutex_);
  auto it = host_.upper_bound(begin);
  if (it == host_.begin()) {
    return false;
  }
  --it;
  return it->second.ours && end <= it->first + it->second.bytes;
}

bool Memory::ClearHost(void* address, uint64_t bytes) {
  const uint64_t begin = reinterpret_cast<uint64_t>(address), end = begin + bytes;
  if (!IsOurs(begin, end) && (bytes < kLookedUp || !IsPrivateAndAnonymous(begin, end))) {
    return false;
  }
  const uint64_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (first >= last) {
    return false;
  }
  std::memset(address, 0, first - begin);
  std::memset(reinterpret_cast<void*>(last), 0, end - last);
  return madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) == 0;
}

bool Memory::IsUntouched(const void* address, uint64_t bytes) const {
  const uint64_t begin = reinterpret_cast<uint64_t>(address), end = begin + bytes;
  const uint64_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (first >= last || !IsOurs(begin, end)) {
    return false;
  }
  // ClearHost() has zeroed the bytes in partial pages.
  const auto zeros = [](uint64_t from, uint64_t to) {
    return std::all_of(reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(to),
                       [](char byte) { return byte == 0; });
  };
  // The page map has a word for each page. A page that was never written to is neither in memory
  // nor in swap. The file is opened at each call, because the program may fork, or close
  // descriptors that it does not know.
  const int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  constexpr uint64_t kThere = uint64_t{3} << 62;
  bool untouched = pages >= 0;
  uint64_t words[512];
  for (uint64_t at = first; untouched && at < last; at += std::size(words) * kPage) {
    const uint64_t count = std::min(std::size(words), (last - at) / kPage);
    const auto wanted = static_cast<ssize_t>(count * sizeof words[0]);
    untouched =
        pread(pages, words, wanted, static_cast<off_t>(at / kPage * sizeof words[0])) == wanted &&
        std::none_of(words, words + count, [](uint64_t word) { return (word & kThere) != 0; });
  }
  if (pages >= 0) {
    close(pages);
  }
  return untouched && zeros(begin, first) && zeros(last, end);
}

Result Memory::AllocateManaged(uint64_t bytes, void** address) {
  return MapHost(bytes, MemoryKind::kManaged, address);
}

Result Memory::FreeHost(void* address) {
  if (address == nullptr) {
    return Result::kSuccess;
  }
  std::lock_guard lock(mutex_);
  const auto it = host_.find(reinterpret_cast<uint64_t>(address));
  if (it == host_.end() || !it->second.ours || it->second.kind != MemoryKind::kHost) {
    return Result::kInvalidValue;
  }
  munmap(address, it->second.bytes);
  host_.erase(it);
  return Result::kSuccess;
}

Result Memory::RegisterHost(void* address, uint64_t bytes) {
  if (address == nullptr || bytes == 0) {
    return Result::kInvalidValue;
  }
  std::lock_guard lock(mutex_);
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  auto next = host_.lower_bound(at);
  if ((next != host_.end() && next->first < at + bytes) ||
      (next != host_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > at)) {
    return Result::kHostMemoryAlreadyRegistered;
  }
  host_[at] = {bytes, MemoryKind::kHost, false};
  return Result::kSuccess;
}

Result Memory::UnregisterHost(void* address) {
  std::lock_guard lock(mutex_);
  const auto it = host_.find(reinterpret_cast<uint64_t>(address));
  if (it == host_.end() || it->second.ours) {
    return Result::kHostMemoryNotRegistered;
  }
  host_.erase(it);
  return Result::kSuccess;
}

const Memory::HostRange* Memory::FindHost(uint64_t address, uint64_t* base) const {
  auto it = host_.upper_bound(address);
  if (it == host_.begin()) {
    return nullptr;
  }
  --it;
  if (address - it->first >= it->second.bytes) {
    return nullptr;
  }
  *base = it->first;
  return &it->second;
}

void Memory::SetGpu(int device, const Gpu& gpu) {
  std::lock_guard lock(mutex_);
  if (!Known(device)) {
    return;
  }
  devices_[device].Set(gpu);
  if (devices_[device].mapped == 0) {
    devices_[device].limit = 0;
  }
}

void Memory::Device::Set(const Gpu& gpu) {
  total = gpu.memory_bytes;
  context = gpu.context_bytes;
  limit = gpu.memory_bytes - gpu.context_bytes - gpu.idle_bytes;
}

void Memory::GrowContext(int device, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (Known(device)) {
    Device& d = devices_[device];
    bytes = std::min(bytes, d.limit);
    d.limit -= bytes;
    d.context += bytes;
    Publish(device);
  }
}

void Memory::ShrinkContext(int device, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (Known(device)) {
    Device& d = devices_[device];
    bytes = std::min(bytes, d.context);
    d.limit += bytes;
    d.context -= bytes;
    Publish(device);
  }
}

void Memory::Reset(int device) {
  std::lock_guard lock(mutex_);
  if (!Known(device)) {
    return;
  }
  Device& d = devices_[device];
  for (const auto& [address, bytes] : d.blocks) {
    Emptied(address, bytes);
  }
  if (reserved_.empty()) next_reservation_ = kReservations;
  d.blocks.clear();
  d.used = d.most_used = 0;
  Publish(device);
  d.addresses =
      std::make_unique<AddressSpace>(d.addresses->base(), d.addresses->span(), placement_);
}

void Memory::SetOvercommit(OnOvercommit observer, void* context) {
  std::lock_guard lock(mutex_);
  on_overcommit_ = observer;
  overcommit_context_ = context;
}

PointerFacts Memory::Find(const void* address) const {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < devices_.size(); ++i) {
    const Device& device = devices_[i];
    if (!device.addresses->Contains(at)) {
      continue;
    }
    PointerFacts facts{MemoryKind::kUnregistered, static_cast<int>(i)};
    auto it = device.blocks.upper_bound(at);
    if (it != device.blocks.begin() && at - std::prev(it)->first < std::prev(it)->second) {
      --it;
      facts = {MemoryKind::kDevice, static_cast<int>(i), it->first, it->second};
    }
    return facts;
  }
  if (auto it = mapped_.upper_bound(at); it != mapped_.begin()) {
    --it;
    if (at - it->first < it->second.bytes) {
      return {MemoryKind::kDevice, it->second.device, it->first, it->second.bytes, true};
    }
  }
  uint64_t base = 0;
  if (const HostRange* range = FindHost(at, &base)) {
    return {range->kind, -1, base, range->bytes};
  }
  return {};
}

int Memory::DeviceOf(const void* address) const {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  // Needs no lock, because devices_ does not change after construction.
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].addresses->Contains(at)) {
      return static_cast<int>(i);
    }
  }
  std::lock_guard lock(mutex_);
  if (auto it = mapped_.upper_bound(at); it != mapped_.begin()) {
    --it;
    if (at - it->first < it->second.bytes) {
      return it->second.device;
    }
  }
  return -1;
}

uint64_t Memory::total(int device) const { return Known(device) ? devices_[device].total : 0; }

uint64_t Memory::free(int device) const {
  std::lock_guard lock(mutex_);
  if (!Known(device)) {
    return 0;
  }
  const Device& d = devices_[device];
  return d.limit - std::min(d.used + used_by_other_processes(device), d.limit);
}

uint64_t Memory::used(int device) const {
  std::lock_guard lock(mutex_);
  return Known(device) ? devices_[device].used : 0;
}

uint64_t Memory::context(int device) const {
  std::lock_guard lock(mutex_);
  return Known(device) ? devices_[device].context : 0;
}

uint64_t Memory::most_used(int device) const {
  std::lock_guard lock(mutex_);
  return Known(device) ? devices_[device].most_used : 0;
}

}  // namespace vramscope::emulated
