#include "tests/fuzz/folder_entries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>

#include "profiler/program/activity_file.h"
#include "profiler/program/folder_stream.h"
#include "profiler/program/program.h"
#include "profiler/trace/crc32c.h"
#include "tests/fuzz/input_folder.h"
#include "tests/fuzz/recording_checks.h"
#include "tests/fuzz/trace_entries.h"

namespace vramscope::fuzz {
namespace {

// Corrects the checksums of chunks (activity_chunk.h): magic, type, length, checksum, payload.
std::string WithRightChunkChecksums(std::string bytes) {
  constexpr size_t kEnvelope = 16;
  size_t at = 0;
  while (bytes.size() - at >= kEnvelope) {
    size_t size = 0;
    for (size_t i = 4; i-- > 0;) size = size << 8 | static_cast<uint8_t>(bytes[at + 8 + i]);
    if (size > bytes.size() - at - kEnvelope) break;
    const std::string_view chunk = std::string_view(bytes).substr(at, kEnvelope + size);
    const uint32_t checksum =
        trace::Crc32c(chunk.substr(kEnvelope), trace::Crc32c(chunk.substr(4, 8)));
    for (size_t i = 0; i < 4; ++i) bytes[at + 12 + i] = static_cast<char>(checksum >> (8 * i));
    at += kEnvelope + size;
  }
  return bytes;
}

}  // namespace

void ActivityChunks(const uint8_t* data, size_t size) {
  const std::string bytes = WithRightChunkChecksums({reinterpret_cast<const char*>(data), size});
  // Reading the first half and then the rest must give the same result as reading the whole file.
  const std::string_view half = std::string_view(bytes).substr(0, bytes.size() / 2);
  program::ActivityFile whole, growing;
  Check(growing.ReadMore(TheFolder().Write("activities.bin", half)).ok(), "a half is refused");
  const std::string path = TheFolder().Write("activities.bin", bytes);
  Check(growing.ReadMore(path).ok() && whole.ReadMore(path).ok(), "a file is refused");
  Check(whole.activities() == growing.activities() && whole.names() == growing.names() &&
            whole.streams() == growing.streams() && whole.facts() == growing.facts() &&
            whole.damaged() == growing.damaged(),
        "a file that grew is another than the whole one");
  for (const trace::Activity& activity : whole.activities())
    Check(trace::CheckActivity(activity, whole.names().size()).ok(), "an activity that is none");
  for (const std::string& warning : whole.Warnings()) Check(!warning.empty(), "an empty warning");
  static_cast<void>(program::PlaceActivities(whole, program::Marks(), recording::Recording(),
                                             program::ModuleTimes(),
                                             program::BlockTimes(whole.activities().size()), 0, 1));
}

void ProgramFolder(const uint8_t* data, size_t size) {
  // A history needs the first two files, so even a short input can contain one.
  constexpr std::array<const char*, 10> kFiles = {
      "process-7.json",           "process-7/history-000000.rows",
      "process-7/marks.jsonl",    "process-7/stacks.jsonl",
      "platform-7.json",          "process-7/activities.bin",
      "process-8/activities.bin", "platform-8.json",
      "platform-9.json",          "process-7/history-000001.pickle"};
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const InputFolder& folder = TheFolder();
  folder.Clear();
  for (const char* name : kFiles) {
    const size_t end = std::min(rest.find('\x1f'), rest.size());
    const std::string bytes(rest.substr(0, end));
    if (!bytes.empty())
      folder.Write(
          name, std::string_view(name).ends_with(".bin") ? WithRightChunkChecksums(bytes) : bytes);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  auto program = program::ReadProgram(folder.path(), {});
  Check(program.ok(), "a folder that is there is refused");
  Check(
      program->processes.size() <= 1 && program->runs.size() <= 2 && program->unwatched.size() <= 3,
      "more processes than there are files of");
  for (const program::ProcessRun& run : program->runs)
    Check(run.trace != nullptr, "a run without a trace");
  for (const std::string& warning : program->warnings) Check(!warning.empty(), "an empty warning");
  const auto joined = program::JoinRuns(*program);
  Check((joined == nullptr) == program->runs.empty(), "runs that are no trace");
}

void FolderStream(const uint8_t* data, size_t size) {
  const std::string bytes = WithRightChecksums({reinterpret_cast<const char*>(data), size});
  const InputFolder& folder = TheFolder();
  folder.Clear();
  const std::string inside = folder.path() + "/inside";
  std::filesystem::create_directory(inside);
  program::FolderReceiver receiver(inside, 1 << 20);
  // Passes small pieces, so that many frames are split between two pieces.
  absl::Status taken;
  for (size_t at = 0; at < bytes.size() && taken.ok(); at += 97)
    taken = receiver.Take(std::string_view(bytes).substr(at, 97));
  Check(taken.ok() || !taken.message().empty(), "an error without a message");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    Check(entry.path() == inside, "a file outside of the folder");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(inside)) {
    Check(!entry.is_symlink(), "a link");
    for (const char c : entry.path().filename().string())
      Check(std::isgraph(static_cast<unsigned char>(c)), "a name that is not plain");
  }
}

}  // namespace vramscope::fuzz
