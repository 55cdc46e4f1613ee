#include "profiler/trace/assumptions.h"

#include <charconv>
#include <string_view>

namespace vramscope::trace {
namespace {

constexpr std::string_view kPrefix = "assumption\n";

// Assumptions that emulated/ records: those with placeholders, and those that are not literals in a
// call of Assume() or assume(). (update.py finds only such literals.)
constexpr std::string_view kFormats[] = {
    kLaunchesKnown,
    kLaunchesPartlyKnown,
    kNotEmulated,
    TEXT_MARK("the times of work on the host were recorded on another computer (with an H200): {} "
              "us per launch and {} us per module in Python code, and {} us per launch in "
              "backward. These times include the recorder's overhead"),
    TEXT_MARK("NCCL memory of a communicator of {} ranks, by NCCL 2.28's rules: {} to {}, "
              "depending on channels and algorithms. The maximum is used"),
    TEXT_MARK("the driver is assumed to support the program's CUDA {}"),
    TEXT_MARK(
        "CUDA {} is unknown; its libraries are assumed to have the same versions and to return the "
        "same results as in CUDA {}"),
    TEXT_MARK("{}(): only the first {} readings are recorded"),
    TEXT_MARK("vramscope's hooks are missing with this version of {}: {}"),
    TEXT_MARK(
        "vramscope's hooks are missing with this version of {}: the library might send data to "
        "its server, although a plan should send nothing"),
    TEXT_MARK("not recorded: {}"),
    TEXT_MARK("calls of modules"),
    TEXT_MARK("backward passes"),
    TEXT_MARK("optimizer steps"),
    TEXT_MARK("loading of data and state dicts"),
    TEXT_MARK("communication between ranks"),
    TEXT_MARK("named ranges"),
    TEXT_MARK("not applied: {}"),
    TEXT_MARK("{} is used without vramscope's hook"),
    TEXT_MARK("one process runs as rank {} of {}: data from the other ranks is missing"),
    TEXT_MARK("elements counted by {}() on the GPU are assumed to be spread evenly over its bins"),
    TEXT_MARK("{} is skipped: a plan uploads nothing"),
    TEXT_MARK("in a plan, {} sends nothing ({})"),
    TEXT_MARK("{} writes to a temporary folder, not to its server: a plan uploads nothing"),
    TEXT_MARK("a condition computed on the GPU is assumed to be {}"),
    TEXT_MARK("a number computed on the GPU is assumed to be {}, because the program compares this "
              "number and would otherwise fail"),
    TEXT_MARK("a number computed on the GPU is assumed to be {}, because the program divides by "
              "this number, takes its logarithm, or trains only if it is not 0"),
    TEXT_MARK(
        "{} writes a real file with the plan's values. Values that the GPU would compute are 0"),
    TEXT_MARK("{} writes large tensors as zeros, which take no disk space (a sparse file)"),
    TEXT_MARK("{} writes only the shapes of tensors to a stream, not their values"),
    TEXT_MARK("where the GPU computes classes, such as the expert of each token, all classes are "
              "assumed to occur equally often"),
    TEXT_MARK("an object detector's sampler is assumed to choose the largest allowed number of "
              "samples that contain objects"),
    TEXT_MARK("the program disables the cache of PyTorch's allocator, which records no history "
              "without a cache. The plan therefore uses the cache, and its reserved memory differs "
              "from the program's"),
    TEXT_MARK("cudaMallocAsync records no history. The plan therefore uses PyTorch's own "
              "allocator, and its reserved memory differs from the program's"),
    TEXT_MARK("cuDNN workspace of a convolution"),
    TEXT_MARK("cuDNN workspace of a convolution's input gradient"),
    TEXT_MARK("cuDNN workspace of a convolution's filter gradient"),
    TEXT_MARK("cuDNN workspace of attention"),
    TEXT_MARK("cuDNN workspace of attention's backward kernel"),
    TEXT_MARK("cuDNN workspace of a fused graph"),
    TEXT_MARK("{}, by rules that were derived from measurements on an H200 (cuDNN 9.19)"),
    TEXT_MARK("further assumptions, which are not listed"),
    TEXT_MARK("GPU memory of other processes is not shown"),
    TEXT_MARK("the kernels have more than 8 million operands"),
    TEXT_MARK("the blocks that later kernels access are unknown"),
    TEXT_MARK("{} records from before the first use of a GPU were dropped"),
    TEXT_MARK("API calls from the start of the program are missing"),
    TEXT_MARK("kernels, memcpys and calls are not shown"),
    TEXT_MARK("no activity kinds were requested"),
    TEXT_MARK("memcpys between devices"),
    TEXT_MARK("runtime calls"),
    TEXT_MARK("driver calls"),
    TEXT_MARK("external correlation"),
    TEXT_MARK("driver allocations"),
    TEXT_MARK("CUPTI error {}"),
    TEXT_MARK("{} lacks functions of the CUPTI Activity API"),
    TEXT_MARK("{} has version {}, but version {} (CUDA 11.7) or later is required"),
    TEXT_MARK("CUPTI's buffers were too small for {} records"),
    TEXT_MARK("kernels and memcpys are missing"),
    TEXT_MARK("{} of CUPTI's records are invalid"),
    TEXT_MARK("they are left out"),
};

// Removes and returns the first line of `rest`, without the line break.
std::string_view Line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

std::string OneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

}  // namespace

std::string AssumptionMarker(const run::Assumption& a) {
  return std::string(kPrefix) + OneLine(a.what) + "\n" + OneLine(a.where) + "\n" +
         std::to_string(a.bytes);
}

std::vector<run::Assumption> AssumptionsOf(const Trace& trace) {
  i18n::Know(kFormats);
  std::vector<run::Assumption> out;
  for (const Marker& marker : trace.markers) {
    std::string_view rest = trace.String(marker.name);
    if (!rest.starts_with(kPrefix)) continue;
    rest.remove_prefix(kPrefix.size());
    run::Assumption a;
    a.what = Line(rest);
    a.where = Line(rest);
    std::from_chars(rest.data(), rest.data() + rest.size(), a.bytes);
    out.push_back(std::move(a));
  }
  const TraceInfo& info = trace.info;
  // In a plan of the embedded loop, the CUDA context is already one of the run's assumptions. In a
  // run on a real GPU, it is the only assumption; it is used to find the largest run.
  const bool of_gpu =
      info.backend == Backend::kCuda || (info.backend == Backend::kPlan && !info.has_config);
  if (of_gpu && info.device.context_bytes > 0) out.push_back(run::ContextAssumption(info.device));
  if (!info.has_config) return out;
  const absl::StatusOr<run::ModelConfig> model = run::CheckRun(info.config);
  if (!model.ok()) return out;
  for (run::Assumption& a : run::Assumptions(info.config, *model)) out.push_back(std::move(a));
  return out;
}

}  // namespace vramscope::trace
