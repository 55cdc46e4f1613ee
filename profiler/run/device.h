// A GPU with all that is known of it, and how people write one:
//
//   rtx-4090                      a name of the device table (figures, sources: resources/devices/)
//   a100-80gb:1g.10gb             a MIG slice of one, by NVIDIA's name of its profile
//   rtx-4090,memory=12GiB         one with other figures
//   memory=24GiB,compute_capability=8.6,multiprocessors=28      figures alone
//
//   ASSIGN_OR_RETURN(Device d, ReadDevice("a100-80gb:1g.10gb"));
//
// FindDevice() reads the same and keeps what a run and a trace have of it. device_file.h reads
// files, docs/devices.md has the figures. Thread-safe.
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

// `key` of one that is not in the table is the text that ReadDevice() reads.
struct Device : DeviceProfile {
  Peers peers = Peers::kPcie;
  bool integrated = false;  // its memory is the system's, shared with the processor
  bool ecc = false;
  std::string line;       // of the table: its file, "geforce-40"; "" of others
  FigureSources sources;  // sources.Assumed(): figures that were read nowhere
};

const std::vector<Device>& DeviceTable();  // in the order of Devices()

// What words of a search are looked for in, in lower case: name, key, line, architecture.
std::string SearchText(const Device& device);

// Errors name the figure and what is allowed, or the near names. Opens no file: a text that names
// one is refused.
absl::StatusOr<Device> ReadDevice(std::string_view text);

// A part of a GPU in MIG mode.
struct MigSlice {
  std::string profile;  // "1g.10gb"
  uint32_t sm_count = 0;
  uint64_t memory_bytes = 0;
};
// Of a name of the table; empty for a GPU that has no MIG.
std::span<const MigSlice> MigSlicesOf(std::string_view name);

}  // namespace vramscope::run
