// A GPU with all its known figures, and the texts that describe it:
//
//   rtx-4090                      a name of the device table (figures, sources: resources/devices/)
//   a100-80gb:1g.10gb             a MIG slice of such a GPU, with NVIDIA's profile name
//   rtx-4090,memory=12GiB         a GPU of the table with some figures changed
//   memory=24GiB,compute_capability=8.6,multiprocessors=28      figures without a GPU of the table
//
//   ASSIGN_OR_RETURN(Device d, ReadDevice("a100-80gb:1g.10gb"));
//
// FindDevice() reads the same texts and returns the figures that runs and traces store.
// device_file.h reads files; docs/devices.md lists the figures. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/device_profile.h"
#include "profiler/run/device_sources.h"
#include "profiler/run/peers.h"

namespace vramscope::run {

// `key`: the name in the table. For other devices, a text that ReadDevice() reads.
struct Device : DeviceProfile {
  Peers peers = Peers::kPcie;
  bool integrated = false;  // the GPU uses the system's memory
  bool ecc = false;
  std::string line;       // the table's file that contains the GPU: "geforce-40"; "" for others
  FigureSources sources;  // sources.Assumed() lists the figures without a source
};

const std::vector<Device>& DeviceTable();  // in the order of Devices()

// Returns the text in which a search looks for words, in lower case: name, key, line, architecture.
std::string SearchText(const Device& device);

// Errors name the figure and the allowed values, or similar names. Opens no file: the name of a
// file is an error.
absl::StatusOr<Device> ReadDevice(std::string_view text);

// A part of a GPU in MIG mode.
struct MigSlice {
  std::string profile;  // "1g.10gb"
  uint32_t sm_count = 0;
  uint64_t memory_bytes = 0;
};
// Returns the MIG slices of a GPU of the table; empty if it does not support MIG.
std::span<const MigSlice> MigSlicesOf(std::string_view name);

}  // namespace vramscope::run
