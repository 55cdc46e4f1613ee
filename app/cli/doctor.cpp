// `doctor`: lists what is installed on this computer and what is missing. `doctor --gpu`: checks
// only the GPU.
#include "app/cli/doctor.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <QLibraryInfo>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/worker_run.h"
#include "nvml/gpu_probe.h"
#include "profiler/base/i18n.h"
#include "profiler/base/install_paths.h"
#include "profiler/program/launch.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/run/device_file.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/reported_gpu.h"
#include "profiler/run/units.h"

namespace vramscope::cli::doctor_command {
namespace {

std::string_view Name(State state) {
  switch (state) {
    case State::kPass:
      return "PASS";
    case State::kSkip:
      return "SKIP";
    case State::kFail:
      return "FAIL";
  }
  return "?";
}

// The errors of nvml/ and cupti/, which return them in English. Listed here for translation.
constexpr std::string_view kErrors[] = {
    TEXT_MARK("the NVIDIA driver's libcuda.so.1 is not installed"),
    TEXT_MARK("libcuda.so.1 lacks required functions; the driver is too old"),
    TEXT_MARK("cuInit failed with CUDA error {}"),
    TEXT_MARK("the driver finds no GPU"),
    TEXT_MARK("libnvidia-ml.so.1 was not found"),
    TEXT_MARK("libnvidia-ml.so.1 lacks required functions"),
    TEXT_MARK("NVML could not be initialized: error {}"),
    TEXT_MARK("kernels and collectives are not shown"),
    TEXT_MARK("memcpys are not shown"),
    TEXT_MARK("memcpys between GPUs are not shown"),
    TEXT_MARK("memsets are not shown"),
    TEXT_MARK("the calls that launched kernels are unknown"),
    TEXT_MARK("the calls that launched Triton kernels are unknown"),
    TEXT_MARK("the operators of kernels are unknown"),
    TEXT_MARK("host synchronizations are not shown"),
    TEXT_MARK("memory outside PyTorch's allocator is not itemized"),
    TEXT_MARK("the blocks that a kernel accesses are unknown"),
    TEXT_MARK("CUPTI's own overhead is not shown"),
    TEXT_MARK("clocks, temperature and power are not shown"),
    TEXT_MARK("another profiler uses CUPTI in this process"),
    TEXT_MARK("the driver lets only administrators profile (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)"),
    TEXT_MARK("this virtual GPU does not allow profiling"),
    TEXT_MARK("CUPTI could not be initialized"),
    TEXT_MARK("CUPTI finds no driver"),
    TEXT_MARK("CUPTI error {}"),
    TEXT_MARK("CUPTI is already in use by vramscope"),
    TEXT_MARK(
        "no libcupti of CUDA 11.7 to 13 was found in this process or next to its CUDA runtime"),
    TEXT_MARK("{} lacks functions of the CUPTI Activity API"),
    TEXT_MARK("{} has version {}, but version {} (CUDA 11.7) or later is required"),
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Finding Display() {
  const std::string platform = Environment("QT_QPA_PLATFORM");
  const std::string wayland = Environment("WAYLAND_DISPLAY"), x11 = Environment("DISPLAY");
  const std::string version =
      fmt::format("Qt {}", QLibraryInfo::version().toString().toStdString());
  if (!platform.empty()) {
    return {State::kPass, "window",
            i18n::Format("{}, platform {} (set by QT_QPA_PLATFORM)", version, platform)};
  }
  if (!wayland.empty())
    return {State::kPass, "window", fmt::format("{}, Wayland {}", version, wayland)};
  if (!x11.empty()) return {State::kPass, "window", fmt::format("{}, X11 {}", version, x11)};
  return {State::kSkip, "window",
          i18n::Format("{}, no display: neither $DISPLAY nor $WAYLAND_DISPLAY is set; only the "
                       "command line and --screenshot work",
                       version)};
}

Finding Worker() {
  const WorkerProbe probe = ProbeWorker();
  if (probe.started) {
    return {State::kPass, "worker",
            i18n::Format("{} starts (version {})", probe.program, probe.version)};
  }
  return {State::kFail, "worker", probe.error};
}

Finding Memory() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return {State::kSkip, "memory", i18n::Text("not known")};
  const uint64_t total = uint64_t{info.totalram} * info.mem_unit;
  return {
      State::kPass, "memory",
      i18n::Format("{}, {} processors", run::FormatBytes(total), sysconf(_SC_NPROCESSORS_ONLN))};
}

Finding Gpu(const nvml::GpuProbe& probe) {
  if (!probe.initialised)
    return {State::kSkip, "gpu",
            i18n::Format("{}. The backends `plan` and `cpu` do not need a GPU",
                         i18n::Shown(probe.error))};
  return {State::kPass, "gpu",
          i18n::Format("{}, {}, driver for CUDA {}.{}", probe.name,
                       run::FormatBytes(probe.memory_bytes), probe.driver_version / 1000,
                       probe.driver_version % 1000 / 10)};
}

std::vector<Finding> GpuFindings(const std::string& python) {
  const nvml::GpuProbe probe = nvml::ProbeGpu(true);
  const bool emulated = probe.library && OnEmulatedPlatform();
  std::vector<Finding> findings;
  const auto step = [&](bool good, const char* what, const std::string& detail) {
    findings.push_back(
        {good ? State::kPass : State::kFail, what, good ? detail : i18n::Shown(probe.error)});
  };
  if (emulated)
    findings.push_back({State::kSkip, "device node", i18n::Text("not checked on an emulated GPU")});
  else
    findings.push_back(
        {probe.device_node ? State::kPass : State::kFail, "device node",
         probe.device_node
             ? i18n::Text("/dev/nvidiactl exists")
             : i18n::Text(
                   "/dev/nvidiactl does not exist: this computer has no NVIDIA GPU or no driver")});
  step(probe.library, "driver library", i18n::Text("libcuda.so.1 loads"));
  if (!probe.library) return findings;
  step(probe.initialised, "driver starts",
       probe.device_count == 1
           ? i18n::Format("CUDA {}.{}, {} GPU", probe.driver_version / 1000,
                          probe.driver_version % 1000 / 10, probe.device_count)
           : i18n::Format("CUDA {}.{}, {} GPUs", probe.driver_version / 1000,
                          probe.driver_version % 1000 / 10, probe.device_count));
  if (!probe.initialised) return findings;
  findings.push_back(
      {State::kPass, "gpu",
       i18n::Format("{}: {} bytes, {} SMs x {} threads, compute capability {}.{}", probe.name,
                    probe.memory_bytes, probe.sm_count, probe.max_threads_per_sm,
                    probe.compute_capability / 10, probe.compute_capability % 10)});
  const bool context = probe.context_bytes > 0;
  findings.push_back({context ? State::kPass : State::kFail, "context",
                      context ? i18n::Format("an empty context uses at most {}",
                                             run::FormatBytes(probe.context_bytes))
                              : i18n::Text("the driver cannot create a context")});
  const std::optional<run::DeviceProfile> entry =
      run::TableEntryOf({probe.name, probe.memory_bytes, probe.sm_count, probe.compute_capability});
  if (!entry) {
    findings.push_back({State::kSkip, "device table", i18n::Text("this GPU is not listed")});
  } else {
    const bool same = entry->max_threads_per_sm == probe.max_threads_per_sm;
    findings.push_back({same ? State::kPass : State::kFail, "device table",
                        i18n::Format("listed as {}: {} bytes of memory, {} threads per SM",
                                     entry->key, entry->memory_bytes, entry->max_threads_per_sm)});
  }
  for (auto& more : {CheckCupti(), CheckNvml(), CheckPyTorch(python, entry)})
    findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

ExitCode Execute(bool gpu_only, bool as_json, const std::string& python) {
  i18n::Know(kErrors);
  const std::vector<Finding> findings =
      gpu_only ? GpuFindings(python)
               : std::vector<Finding>{Display(), Worker(), Memory(), Gpu(nvml::ProbeGpu(false))};
  bool good = true;
  Json list = Json::array();
  std::string text;
  for (const Finding& finding : findings) {
    good = good && finding.state != State::kFail;
    const std::string state(Name(finding.state));
    list.push_back({{"check", finding.what}, {"state", state}, {"detail", finding.detail}});
    text += fmt::format("{}  {:<15} {}\n", state, finding.what, Printable(finding.detail));
  }
  const ExitCode printed = as_json ? PrintJson({{"ok", good}, {"checks", list}}) : PrintText(text);
  return printed != kDone ? printed : good ? kDone : kNo;
}

// Starts this program again on the emulated platform, to run the same checks there.
ExitCode ExecuteEmulated(const std::string& device, bool as_json, const std::string& python) {
  const absl::StatusOr<std::string> written = run::DeviceTextOf(device);
  const absl::StatusOr<run::DeviceProfile> gpu =
      written.ok() ? run::FindDevice(*written) : written.status();
  if (!gpu.ok()) return ReportError(gpu.status());
  const absl::StatusOr<program::Platform> platform = program::FindPlatform(true);
  if (!platform.ok()) return ReportError(platform.status());
  program::LaunchOptions options;
  options.command = {base::OwnPaths().vramscope.string(), "doctor", "--gpu"};
  if (as_json) options.command.emplace_back("--json");
  if (!python.empty()) options.command.insert(options.command.end(), {"--python", python});
  options.device = *gpu;
  options.steps = 0;
  options.activities = false;  // the checks use CUPTI themselves
  const absl::StatusOr<std::unique_ptr<program::ScratchFolder>> folder =
      program::ScratchFolder::Make();
  if (!folder.ok()) return ReportError(folder.status());
  options.output = (*folder)->path();
  const program::Outcome outcome = program::Launch(*platform, options);
  if (!outcome.started.ok()) return ReportError(outcome.started);
  return static_cast<ExitCode>(outcome.exit_status);
}

struct Options {
  bool gpu = false, json = false;
  std::string python, emulated;
};

void DeclareDoctor(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::Option* gpu = command->add_flag("--gpu", options->gpu, "check only the NVIDIA GPU");
  command->add_flag("--json", options->json, "print one JSON object");
  command
      ->add_option("--python", options->python,
                   "with --gpu, use the PyTorch of this Python interpreter")
      ->needs(gpu)
      ->type_name("PATH");
  command
      ->add_option("--emulated", options->emulated,
                   "with --gpu, emulate this GPU and run the checks on the emulated platform. "
                   "Takes the same values as `plan --device`: a name in the device table, a MIG "
                   "slice, a file or properties")
      ->needs(gpu)
      ->type_name("GPU");
  command->callback([options, &context] {
    context.exit_code = options->gpu && !options->emulated.empty()
                            ? ExecuteEmulated(options->emulated, options->json, options->python)
                            : Execute(options->gpu, options->json, options->python);
  });
}

}  // namespace

CommandEntry DeclareCommand_doctor() {
  return {.place = 230,
          .name = "doctor",
          .help = "check this computer for missing components; exit with 1 if one is missing",
          .example = "doctor",
          .declare = DeclareDoctor};
}

}  // namespace vramscope::cli::doctor_command
