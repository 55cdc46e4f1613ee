#include "tests/fuzz/targets.h"

#include "tests/fuzz/assembly_entries.h"
#include "tests/fuzz/cudnn_entries.h"
#include "tests/fuzz/device_code_entries.h"
#include "tests/fuzz/device_entries.h"
#include "tests/fuzz/filter_entries.h"
#include "tests/fuzz/folder_entries.h"
#include "tests/fuzz/histogram_entries.h"
#include "tests/fuzz/kineto_entries.h"
#include "tests/fuzz/marks_entries.h"
#include "tests/fuzz/mcp_entries.h"
#include "tests/fuzz/requests_entries.h"
#include "tests/fuzz/run_entries.h"
#include "tests/fuzz/setup_entries.h"
#include "tests/fuzz/snapshot_entries.h"
#include "tests/fuzz/tail_entries.h"
#include "tests/fuzz/trace_entries.h"
#include "tests/fuzz/typed_entries.h"
#include "tests/fuzz/worker_entries.h"

namespace vramscope::fuzz {

std::span<const Target> Targets() {
  static constexpr Target kTargets[] = {
      {"activities", &Activities},
      {"activity_chunks", &ActivityChunks},
      {"activity_tail", &ActivityTail},
      {"assembly", &WorkerAnswers},
      {"batch", &Batch},
      {"cudnn", &CudnnDescriptors},
      {"device", &DeviceFile},
      {"device_code", &DeviceCode},
      {"experiments", &Experiments},
      {"filter", &FilterText},
      {"folder_stream", &FolderStream},
      {"histogram", &Histogram},
      {"history_tail", &HistoryTail},
      {"index_page", &IndexPage},
      {"kineto", &Kineto},
      {"marks", &ProgramMarks},
      {"mcp", &Mcp},
      {"model_config", &ModelConfig},
      {"outline", &TraceOutline},
      {"pickle", &Pickle},
      {"program_folder", &ProgramFolder},
      {"requests", &Requests},
      {"run_bytes", &RunBytes},
      {"run_json", &RunJson},
      {"settings", &Settings},
      {"snapshot_json", &SnapshotJson},
      {"trace", &Trace},
      {"typed", &Typed},
      {"worker", &WorkerRequests},
      {"zip", &Zip},
  };
  return kTargets;
}

}  // namespace vramscope::fuzz
