#include "tests/fuzz/tail_entries.h"

#include <cstring>
#include <string>
#include <string_view>

#include "profiler/program/activity_file.h"
#include "profiler/program/activity_tail.h"
#include "profiler/program/history.h"
#include "profiler/program/program.h"
#include "tests/fuzz/input_folder.h"
#include "tests/fuzz/recording_checks.h"

namespace vramscope::fuzz {

// The trace must accept all rows, even damaged ones.
void HistoryTail(const uint8_t* data, size_t size) {
  const InputFolder& folder = TheFolder();
  folder.Write("history-000000.tail", {reinterpret_cast<const char*>(data), size});
  const program::HistoryReader reader({});
  const auto recording = reader.WithTail(folder.path());
  Check(recording.ok() || !recording.status().message().empty(), "an error without a message");
  if (!recording.ok()) return;
  CheckRecording(*recording);
  const auto trace = program::BuildTrace(*recording, program::Marks(), program::About(), {});
  Check(trace.ok() || !trace.status().message().empty(), "an error without a message");
}

void ActivityTail(const uint8_t* data, size_t size) {
  if (size < 1) return;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string bytes(program::kActivityTailBytes, '\0');
  size_t at = 0;
  const auto take = [&](size_t most) {
    const std::string_view part = rest.substr(0, most);
    std::memcpy(bytes.data() + at, part.data(), part.size());
    at += part.size();
    rest.remove_prefix(part.size());
  };
  take(sizeof(program::ActivityTailHeader));
  take(*data * sizeof(trace::Activity));
  at = program::kActivityTailBytes - program::kTailNameBytes;
  take(program::kTailNameBytes);
  program::ActivityFile file;
  const absl::Status status = file.ReadTail(TheFolder().Write("activities.tail", bytes));
  if (!status.ok()) return;
  for (const trace::Activity& activity : file.activities()) {
    Check(trace::CheckActivity(activity, file.names().size()).ok(), "an activity that is none");
    Check(activity.begin_ns >= 0, "an activity before the clock's begin");
  }
  static_cast<void>(program::PlaceActivities(file, program::Marks(), recording::Recording(),
                                             program::ModuleTimes(), {}, 0, 1));
}

}  // namespace vramscope::fuzz
