// Structures that NVML fills in, in the order and with the sizes that NVIDIA documents. The
// sampler, the emulated platform's library and the fakes in tests all use these declarations.
// Includes nothing.
#pragma once

namespace vramscope::nvml {

struct Memory {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;  // size of the structure, and its version number from bit 24 on
  unsigned long long total, reserved, free, used;
};
struct Process {  // used by functions with _v2 and _v3
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct Process1 {  // used by functions without a suffix
  unsigned pid;
  unsigned long long used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct PciInformation {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct FabricInformation {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
struct FabricInformation2 {
  static constexpr unsigned kVersion = 36 | 2u << 24;
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
struct FabricInformation3 {
  static constexpr unsigned kVersion = 40 | 3u << 24;
  FabricInformation2 second;
  unsigned char health_summary;
};

// These are the sizes in NVML's documentation. Without this check, a library and a sampler with the
// same wrong layout would agree with each other.
static_assert(sizeof(Memory) == 24 && sizeof(Memory2) == 40);
static_assert(sizeof(Process) == 24 && sizeof(Process1) == 16);
static_assert(sizeof(FabricInformation) == 28 && sizeof(FabricInformation2) == 36 &&
              sizeof(FabricInformation3) == 40);
static_assert(sizeof(Utilization) == 8 && sizeof(PciInformation) == 68);

}  // namespace vramscope::nvml
