#include "tests/fuzz/snapshot_entries.h"

#include <memory>
#include <string>
#include <string_view>

#include "profiler/importers/memory_stats.h"
#include "profiler/importers/snapshot.h"
#include "tests/fuzz/recording_checks.h"
#include "tests/profiler/importers/memory_input.h"

namespace vramscope::fuzz {
namespace {

using importers::testing::MemoryInput;

void Read(const std::string& bytes) {
  MemoryInput input(bytes);
  const auto r = importers::ReadSnapshot(input, {});
  if (!r.ok()) {
    Check(!r.status().message().empty(), "an error without a message");
    return;
  }
  CheckRecording(*r);
  for (const uint64_t size : r->entries.bytes)
    Check(size <= uint64_t{1} << 62, "bytes of an entry");
  CheckTrace(*r);
  // Reads a part of the snapshot: a range of times, or a range of entries.
  importers::SnapshotOptions options;
  const uint32_t n = r->entries.size();
  if (bytes.size() % 3 == 0 && n > 0) {
    options.from_ns = r->entries.time_ns[n / 4];
    options.to_ns = r->entries.time_ns[n / 2];
  } else {
    options.first_entry = n / 4;
    options.last_entry = n / 2;
  }
  MemoryInput all_again(bytes);
  const auto part = importers::ReadSnapshot(all_again, options);
  // The reader may read the file twice (`again`), and in small pieces. The result must be the same.
  options.again = [&] { return std::make_unique<MemoryInput>(bytes); };
  MemoryInput in_pieces(bytes, 97);
  const auto cut = importers::ReadSnapshot(in_pieces, options);
  Check(part.ok() == cut.ok(), "a range that is read in one way only");
  if (!part.ok()) return;
  CheckRecording(*part);
  CheckTrace(*part);
  const std::string difference = Difference(*part, *cut);
  Check(difference.empty(), "a range that is cut out at once differs in " + difference);
}

}  // namespace

void Pickle(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes.starts_with('\x80') ? std::string(bytes) : "\x80\x04" + std::string(bytes));
}

void SnapshotJson(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('\x80')) return;
  Read(std::string(bytes));
  MemoryInput input(std::string(bytes), 97);
  const auto stats = importers::ReadMemoryStats(input, "");
  if (!stats.ok()) return Check(!stats.status().message().empty(), "an error without a message");
  Check(!stats->statistics.empty(), "statistics without a figure");
  CheckTrace(*stats);
}

}  // namespace vramscope::fuzz
