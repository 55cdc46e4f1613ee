#include "trainer/trainer.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "profiler/base/version.h"
#include "profiler/run/allocator_settings.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/cuda_backend.h"
#include "trainer/capture/cancel.h"
#include "trainer/capture/taps.h"
#include "trainer/loop/training_loop.h"

namespace vramscope::trainer {
namespace {

int64_t UnixNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

trace::Backend TraceBackend(run::Backend backend) {
  switch (backend) {
    case run::Backend::kPlan:
      return trace::Backend::kPlan;
    case run::Backend::kCpu:
      return trace::Backend::kCpu;
    case run::Backend::kCuda:
      return trace::Backend::kCuda;
  }
  return trace::Backend::kPlan;
}

// Returns LibTorch's message without the backtrace and without advice for Python users.
std::string FirstParagraph(std::string_view text) {
  const size_t end = std::min(text.find("\nException raised from"), text.find("\n\n"));
  std::string out(text.substr(0, std::min(end, size_t{2000})));
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

// Runs `body` and turns any exception into a status.
template <class Body>
absl::Status Guard(const Body& body) {
  try {
    return body();
  } catch (const CancelledError&) {
    return absl::CancelledError("the run was cancelled");
  } catch (const RunRefused& refused) {
    return refused.status;
  } catch (const c10::OutOfMemoryError& error) {
    if (OnEmulatedPlatform()) {  // here, allocations beyond the GPU's memory succeed
      return absl::ResourceExhaustedError(
          "the run needs more than 2 TiB on one GPU, or the system limits the address space too "
          "much (ulimit -v)");
    }
    return absl::ResourceExhaustedError(FirstParagraph(error.what_without_backtrace()));
  } catch (const c10::NotImplementedError& error) {
    return absl::UnimplementedError(FirstParagraph(error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    std::string text = FirstParagraph(error.what_without_backtrace());
    // If memory is short, LibTorch's CPU allocator throws a plain c10::Error.
    if (text.find("can't allocate memory") != std::string::npos) {
      return absl::ResourceExhaustedError(std::move(text));
    }
    return absl::InternalError(std::move(text));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("the host is out of memory");
  } catch (const std::exception& error) {
    return absl::InternalError(FirstParagraph(error.what()));
  } catch (...) {
    return absl::InternalError("the training loop failed with an unknown exception");
  }
}

// Appends the operator and module that failed to the message, unless the run was cancelled.
absl::Status WithPlace(const absl::Status& status, const std::string& place) {
  if (status.ok() || place.empty() || absl::IsCancelled(status)) return status;
  return absl::Status(status.code(),
                      fmt::format("{} (in {})", std::string(status.message()), place));
}

// Returns how many bytes of host memory are available without swapping, or 0 if unknown.
uint64_t HostBytesAvailable() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  uint64_t kilobytes = 0;
  while (file >> key >> kilobytes >> unit) {
    if (key == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

// Refuses runs that cannot fit, because Linux would grant the memory and kill the process later.
absl::Status CheckHostMemory(const Totals& totals) {
  const uint64_t available = HostBytesAvailable();
  const uint64_t needed = totals.bytes + totals.trainable * 4;  // at least weights and gradients
  if (available == 0 || needed <= available) return absl::OkStatus();
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  return absl::ResourceExhaustedError(fmt::format(
      "backend=cpu really trains the model: weights and gradients alone need {:.1f} GiB, but this "
      "computer has only {:.1f} GiB free; use backend=plan or a smaller model",
      static_cast<double>(needed) / kGiB, static_cast<double>(available) / kGiB));
}

// Discards everything.
class NullSink final : public trace::EventSink {
 public:
  void Begin(const trace::TraceInfo&) override {}
  void Strings(uint32_t, std::span<const std::string>) override {}
  void Events(std::span<const trace::Event>) override {}
  void End(bool, std::string_view) override {}
};

constexpr char kWarmUpModel[] = R"({"architectures": ["LlamaForCausalLM"], "vocab_size": 8,
  "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2})";

}  // namespace

struct Trainer::Impl {
  bool warm = false;

  // Runs one step of a tiny model, in which the device is registered, each operator is called for
  // the first time, and autograd's thread starts.
  void WarmUp() {
    if (warm) return;
    warm = true;
    run::RunConfig config;
    config.model = "warm-up";
    config.model_config_json = kWarmUpModel;
    config.batch = 1;
    config.seq = 2;
    config.steps = 1;
    NullSink sink;
    // Ignores the status: if this fails, the real run will fail, too, and report it.
    Run(config, sink, {}).IgnoreError();
  }

  absl::Status Run(const run::RunConfig& config, trace::EventSink& sink, const RunHooks& hooks) {
    trace::TraceInfo info;
    info.producer = base::Producer();
    info.title = config.model;
    info.backend = TraceBackend(config.backend);
    info.has_config = true;
    info.config = config;
    info.alloc_conf = run::AllocConfOf(config);
    Techniques techniques = MakeTechniques(config);
    std::unique_ptr<Model> model;
    absl::Status status = Guard([&] { return Prepare(config, info, techniques, model); });
    sink.Begin(info);
    if (status.ok())
      status = Record(config, info.device, techniques, std::move(model), sink, hooks);
    sink.End(status.ok(), std::string(status.message()));
    return status;
  }

  // Checks all that can be checked before the recording begins, and fills the header.
  absl::Status Prepare(const run::RunConfig& config, trace::TraceInfo& info, Techniques& techniques,
                       std::unique_ptr<Model>& model) {
    if (config.backend == run::Backend::kCuda) {
      if (OnEmulatedPlatform()) {
        return absl::FailedPreconditionError(
            "backend=cuda: this worker was started on the emulated platform, where nothing is "
            "measured");
      }
      if (absl::Status there = CudaBackend().Prepare(); !there.ok()) return there;
      info.device = *CudaBackend().gpu();
      if (!info.device.key.empty()) info.config.device = info.device.key;
    } else {
      auto device = run::ResolveDevice(config);
      if (!device.ok()) return device.status();
      info.device = *std::move(device);
    }
    auto built = BuildModel(config, techniques);
    if (!built.ok()) return built.status();
    model = *std::move(built);
    const Totals totals = Count(*model);
    info.model = {.name = config.model,
                  .parameter_count = totals.count,
                  .trainable_count = totals.trainable,
                  .parameter_bytes = totals.bytes,
                  .layers = static_cast<uint32_t>(model->Layers().size())};
    if (config.backend == run::Backend::kPlan && !OnEmulatedPlatform()) {
      return absl::FailedPreconditionError(
          "backend=plan: this process was not started on the emulated platform");
    }
    // Even in a run on the CPU, LibTorch counts GPUs in the first backward. If Prepare() fails, the
    // next plan reports the error.
    if (config.backend == run::Backend::kCpu && OnEmulatedPlatform()) {
      CudaBackend().Prepare().IgnoreError();
    }
    Backend& backend = BackendOf(config.backend);
    info.measured = backend.measured();
    info.start_unix_ns = info.measured ? UnixNanoseconds() : 0;
    if (config.backend == run::Backend::kCpu) return CheckHostMemory(totals);
    return absl::OkStatus();
  }

  absl::Status Record(const run::RunConfig& config, const run::DeviceProfile& device,
                      Techniques& techniques, std::unique_ptr<Model> model, trace::EventSink& sink,
                      const RunHooks& hooks) {
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(run::AllocConfOf(config));
    if (!conf.ok()) return conf.status();
    Backend& backend = BackendOf(config.backend);
    std::unique_ptr<Rehearsal> rehearsal;
    absl::Status status = Guard([&] {
      CancelScope cancel(hooks.cancel);
      rehearsal = Rehearse(config, *model, techniques, backend, device, hooks);
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    Recorder recorder(sink, backend.clock());
    status = backend.Start(device, *conf, recorder);
    if (!status.ok()) return status;
    {
      Taps taps;
      status = Guard([&] {
        CancelScope cancel(hooks.cancel);
        RunTraining(config, *model, techniques, backend, recorder, hooks, std::move(rehearsal));
        return absl::OkStatus();
      });
      model.reset();
    }
    status = WithPlace(status, recorder.failure());
    absl::Status stopped = Guard([&] { return backend.Stop(); });
    recorder.Flush();
    return status.ok() ? stopped : status;
  }

  static Backend& BackendOf(run::Backend backend) {
    switch (backend) {
      case run::Backend::kCpu:
        return CpuBackend();
      case run::Backend::kCuda:
      case run::Backend::kPlan:
        break;
    }
    return CudaBackend();
  }
};

Trainer::Trainer(const TrainerOptions& options) : impl_(std::make_unique<Impl>()) {
  if (options.gpu_is_there) UseInstalledGpu();
}
Trainer::~Trainer() = default;

void Trainer::WarmUp() { impl_->WarmUp(); }

absl::Status Trainer::Run(const run::RunConfig& config, trace::EventSink& sink,
                          const RunHooks& hooks) {
  return impl_->Run(config, sink, hooks);
}

}  // namespace vramscope::trainer
