// Which kind of file the first bytes are of. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::importers {

enum class FileKind : uint8_t {
  kUnknown,
  kTrace,
  kSnapshotPickle,
  kSnapshotJson,
  kJsonTokens,
  kMemoryStats,
  kMemoryTimeline,  // torch.profiler's export_memory_timeline
  kHtmlSnapshot,    // a page that holds a pickle (html_snapshot.h)
};

// Bytes that are enough: the keys that tell come first in all files seen, a device table of some
// kilobytes before them at most.
inline constexpr size_t kSniffBytes = size_t{64} << 10;

FileKind Sniff(std::string_view head);

}  // namespace vramscope::importers
