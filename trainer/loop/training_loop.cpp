#include "trainer/loop/training_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <unordered_map>
#include <utility>

#include "profiler/run/check_run.h"
#include "trainer/capture/cancel.h"
#include "trainer/capture/host_work.h"
#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/loop/data.h"
#include "trainer/models/family.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/techniques/loop_technique.h"
#include "trainer/techniques/shares_training.h"

namespace vramscope::trainer {
namespace {

using trace::Phase;

std::vector<at::Tensor> TrainedTensors(Model& model) {
  std::vector<at::Tensor> out;
  for (Parameter* parameter : model.Parameters()) {
    if (parameter->trainable) out.push_back(parameter->tensor);
  }
  return out;
}

bool AllOf(const Techniques& techniques, bool (Technique::*property)() const) {
  return std::all_of(techniques.begin(), techniques.end(),
                     [&](const auto& technique) { return (technique.get()->*property)(); });
}

RunContext ContextOf(const run::RunConfig& config, Backend& backend) {
  return {config, backend.device(), backend.measured(),
          [&backend](int rank, int ranks) { return backend.JoinRanks(rank, ranks); }};
}

std::vector<std::unique_ptr<Held>> AroundRun(Techniques& techniques, const run::RunConfig& config,
                                             Backend& backend) {
  const RunContext context = ContextOf(config, backend);
  std::vector<std::unique_ptr<Held>> held;
  for (auto& technique : techniques) held.push_back(technique->AroundRun(context));
  return held;
}

// Reports progress and the expected length of the run. Within a step, it is called at most once per
// kBetweenSayings.
using Say = std::function<void(int step, const std::string& text)>;
constexpr std::chrono::milliseconds kBetweenSayings{200};

// Estimates the number of events of the whole run, based on the events of a part of it.
class RunLength {
 public:
  explicit RunLength(const run::RunConfig& config) : config_(config) {}

  // `passes` micro-batches produced `events` events.
  void Saw(int64_t passes, uint64_t events) {
    const int64_t all = int64_t{config_.steps} * config_.micro_batches;
    const double whole =
        static_cast<double>(events) / static_cast<double>(passes) * static_cast<double>(all);
    millions_ = whole / 1e6;
    if (whole <= static_cast<double>(kMaxRunEvents)) return;
    throw RunRefused{absl::InvalidArgumentError(fmt::format(
        "steps = {} with micro_batches = {} would give about {:.0f} million events, but at most {} "
        "million can be recorded: set steps or micro_batches lower (and batch, to keep the size of "
        "a micro-batch). From the second step and the second micro-batch on, memory use repeats",
        config_.steps, config_.micro_batches, millions_, kMaxRunEvents / 1'000'000))};
  }
  // Refuses the run if `whole`, the number of events of a technique's own work, is too large.
  void Saw(double whole) {
    if (whole <= static_cast<double>(kMaxRunEvents)) return;
    throw RunRefused{absl::InvalidArgumentError(
        fmt::format("generate.tokens = {} would give about {:.0f} million events, but at most {} "
                    "million can be recorded: set generate.tokens or steps lower",
                    config_.Get("generate.tokens"), whole / 1e6, kMaxRunEvents / 1'000'000))};
  }
  // Returns a text such as " (about 3.4 million events)" for long runs, otherwise "".
  std::string Text() const {
    return millions_ < 1 ? "" : fmt::format(" (about {:.1f} million events)", millions_);
  }

 private:
  const run::RunConfig& config_;
  double millions_ = 0;
};

// The state of one run of the loop.
class Loop {
 public:
  Loop(const run::RunConfig& config, Model& model, Techniques& techniques, Backend& backend,
       Recorder& recorder, const RunHooks& hooks, std::unique_ptr<Rehearsal> rehearsal = nullptr)
      : config_(config),
        model_(model),
        techniques_(techniques),
        device_(backend.device()),
        measured_(backend.measured()),
        context_(ContextOf(config, backend)),
        backend_(backend),
        recorder_(recorder),
        script_(model.script()),
        data_(model, {.batch = config.batch / config.micro_batches,
                      .seq = config.seq,
                      .micro_batches = config.micro_batches,
                      .steps = config.steps,
                      .device = device_,
                      .values = measured_,
                      .pinned = std::any_of(techniques.begin(), techniques.end(),
                                            [](const auto& t) { return t->pins_batches(); }),
                      .seed = static_cast<uint64_t>(config.seed),
                      .script = script_}),
        length_(config),
        repeated_(hooks.repeated) {
    for (auto& technique : techniques_) {
      if (auto* own = dynamic_cast<LoopTechnique*>(technique.get())) own_.push_back(own);
      if (auto* shares = dynamic_cast<SharesTraining*>(technique.get())) sharing_ = shares;
    }
    for (auto& technique : techniques_) {
      auto* measures = dynamic_cast<MeasuresGradients*>(technique.get());
      if (measures != nullptr && sharing_ != nullptr) measures->Join(*sharing_);
    }
    // If a script keeps outputs, each micro-batch frees the previous micro-batch's outputs. Such
    // micro-batches cannot be repeated from a tape.
    if (!hooks.repeat_from_tape || script_.keeps_outputs || !All(&Technique::repeats)) return;
    if (rehearsal != nullptr && Adopt(*rehearsal)) return;
    if (config_.steps * config_.micro_batches == 1) return;
    for (auto& tape : tapes_) tape = backend.MakeTape(recorder);
  }

  ~Loop() {
    for (auto& technique : techniques_) technique->AfterRun();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Executes each kind of micro-batch with fewer layers. Returns false if they cannot be repeated.
  bool Rehearse(Rehearsal& rehearsal) {
    SetUp();
    ShortenStack(rehearsal.stack);
    const int kinds = KindsOfMicroBatches();
    for (int kind = 0; kind < kinds; ++kind) {
      {
        PhaseScope phase(Phase::kData);
        data_.Next(0, 0, batch_);
      }
      auto& tape = rehearsal.tapes[kind] = backend_.MakeTape(recorder_);
      if (tape == nullptr) return false;
      tape->Record();
      Execute();
      tape->Stop(trained_);
      if (!tape->ready()) return false;
    }
    return true;
  }

  void SetUp() {
    PhaseScope phase(Phase::kSetup);
    at::manual_seed(static_cast<uint64_t>(config_.seed));
    MaterializeOptions options{
        .device = device_, .values = measured_, .seed = static_cast<uint64_t>(config_.seed)};
    for (auto& technique : techniques_) {
      if (technique->loads_as()) options.dtype = technique->loads_as();
    }
    // Sharding may have moved the model to the GPU unit by unit. Then its tensors exist already.
    if (!model_.Parameters().front()->tensor.defined()) Materialize(model_, options);
    for (auto& technique : techniques_) technique->AfterLoad(context_, model_);
    trained_ = TrainedTensors(model_);
    if (sharing_ != nullptr) trained_ = sharing_->Trained(std::move(trained_));
    WatchGradients(trained_, [this](const at::Tensor& leaf) {
      for (auto& technique : techniques_) technique->OnGradient(leaf);
    });
    for (auto& technique : techniques_) technique->AfterSetUp(context_, model_, trained_);
    model_.layer_runner = nullptr;
    model_.inputs_require_grad = false;
    // Wraps in reverse order, so that the first technique becomes the outermost.
    std::for_each(techniques_.rbegin(), techniques_.rend(), [&](auto& technique) {
      model_.layer_runner =
          technique->AroundLayers(context_, model_, std::move(model_.layer_runner));
      loss_function_ = technique->AroundLoss(std::move(loss_function_));
      optimizer_step_ = technique->AroundStep(std::move(optimizer_step_));
    });
    MakeOptimizer();
  }

  void PrepareData() {
    if (!script_.inputs_up_front) return;
    PhaseScope phase(Phase::kData);
    data_.Prepare();
  }

  void BeforeTraining() {
    Optimizer* trains = All(&Technique::trains) ? optimizer_.get() : nullptr;
    for (LoopTechnique* own : own_) own->BeforeTraining(context_, trains);
  }

  void Step(int step, const Say& say) {
    StepScope scope(step);
    double loss = 0;
    const uint64_t before = recorder_.events();
    const LoopAccess access = Access(config_.steps);
    for (LoopTechnique* own : own_) {
      if (own->InsteadOfStep(context_, access)) return;
    }
    for (int k = 0; k < config_.micro_batches; ++k) {
      std::optional<MicroBatchScope> micro_batch;
      if (config_.micro_batches > 1) micro_batch.emplace(k);
      loss += MicroBatch(step, k);
      if (step == 0 && k == 0) length_.Saw(1, recorder_.events() - before);
      const auto now = std::chrono::steady_clock::now();
      if (k + 1 == config_.micro_batches || now - said_ < kBetweenSayings) continue;
      said_ = now;
      say(step, fmt::format("step {} of {}, micro-batch {} of {}{}", step + 1, config_.steps, k + 1,
                            config_.micro_batches, length_.Text()));
    }
    if (All(&Technique::trains)) {
      PhaseScope phase(Phase::kOptimizer);
      if (step == 0) FirstOptimizerStep();
      for (auto& technique : techniques_) technique->BeforeStep(context_, trained_);
      optimizer_step_(*optimizer_);
      FinishPhase();
    }
    if (!script_.keeps_outputs && !ZeroesLate()) {
      PhaseScope phase(Phase::kZeroGrad);
      ZeroGradients();
    }
    for (auto& technique : techniques_) technique->AfterStep(context_, step);
    if (measured_) recorder_.Marker(fmt::format("loss={:.6f}", loss));
    length_.Saw(config_.micro_batches, recorder_.events() - before);
    said_ = std::chrono::steady_clock::now();
  }
  std::string LengthText() const { return length_.Text(); }

  // Between steps, a script that keeps its outputs frees gradients. It frees logits and loss only
  // before the last step. It frees nothing after the last step, so that the state can be inspected.
  void BetweenSteps(int next_step) {
    if (!script_.keeps_outputs) return;
    PhaseScope phase(Phase::kZeroGrad);
    ZeroGradients();
    if (next_step != config_.steps - 1) return;
    logits_.reset();
    loss_.reset();
  }

  void DropBatch() { batch_ = {}; }

  void AfterTraining() {
    const ForwardPass pass = [this](int index, at::Tensor& logits) {
      data_.Next(config_.steps - 1, index % config_.micro_batches, batch_);
      std::vector<std::unique_ptr<Held>> held = Hold();
      at::Tensor made = model_.Logits(batch_);
      ModuleScope module("loss");
      at::Tensor loss = loss_function_(model_, made, batch_);
      Release(held);
      // Keeps the logits and loss of the previous batch until the new ones exist.
      logits = std::move(made);
      return loss;
    };
    for (auto& technique : techniques_) technique->AfterTraining(context_, pass);
    const LoopAccess access = Access(1);
    for (LoopTechnique* own : own_) own->AfterSteps(context_, access);
  }

 private:
  std::vector<std::unique_ptr<Held>> Hold() {
    std::vector<std::unique_ptr<Held>> held;
    for (auto& technique : techniques_) held.push_back(technique->AroundForward(context_));
    return held;
  }
  static void Release(std::vector<std::unique_ptr<Held>>& held) {
    while (!held.empty()) held.pop_back();
  }

  // Gives a technique access to the loop. The technique does its work `times` times in the run.
  LoopAccess Access(int times) {
    return {.hold = [this] { return Hold(); },
            .done =
                [this, times, before = recorder_.events()](double share) {
                  length_.Saw(static_cast<double>(recorder_.events() - before) / share * times);
                }};
  }

  void MakeOptimizer() {
    const MakeOptimizerOf make = [this](const std::vector<at::Tensor>& parameters) {
      std::unique_ptr<Optimizer> made;
      for (auto& technique : techniques_) {
        if (made == nullptr) made = technique->MakeOptimizer(context_, parameters);
      }
      return made;
    };
    for (auto& technique : techniques_) {
      if (optimizer_ == nullptr) optimizer_ = technique->DivideOptimizer(make, trained_);
    }
    if (optimizer_ == nullptr) optimizer_ = make(trained_);
  }

  bool All(bool (Technique::*property)() const) const { return AllOf(techniques_, property); }

  bool KeepsGradients() const {
    return std::any_of(techniques_.begin(), techniques_.end(),
                       [](const auto& technique) { return technique->keeps_gradients(); });
  }
  bool ZeroesLate() const {
    return std::any_of(techniques_.begin(), techniques_.end(),
                       [](const auto& technique) { return technique->zeroes_before_backward(); });
  }
  void ZeroGradients() {
    optimizer_->ZeroGrad(KeepsGradients() ? ZeroGradMode::kZero : ZeroGradMode::kNone);
  }

  // There are two kinds of micro-batches: the first allocates gradients, others add to them.
  int KindsOfMicroBatches() const {
    const bool kept = KeepsGradients() && config_.steps > 1;
    return config_.micro_batches > 1 || kept ? 2 : 1;
  }

  bool Adopt(Rehearsal& rehearsal) {
    for (int kind = 0; kind < KindsOfMicroBatches(); ++kind) {
      if (!rehearsal.tapes[kind]->Extend(rehearsal.stack, recorder_)) return false;
    }
    for (int kind = 0; kind < KindsOfMicroBatches(); ++kind) {
      tapes_[kind] = std::move(rehearsal.tapes[kind]);
    }
    return true;
  }

  // Makes the current runner run only the layers of the first two and the last two units.
  void ShortenStack(const ShortenedStack& stack) {
    std::vector<size_t> chosen;
    size_t layer = 0;
    for (size_t unit = 0; unit < stack.units.size(); ++unit) {
      const bool runs = unit < 2 || unit + 2 >= stack.units.size();
      for (size_t i = 0; i < stack.units[unit].size(); ++i, ++layer) {
        if (runs) chosen.push_back(layer);
      }
    }
    model_.layer_runner = [chosen, inner = model_.layer_runner](
                              at::Tensor hidden, const std::vector<LayerFunction>& layers,
                              const std::string& path, Carried& carried) {
      std::vector<LayerFunction> some;
      for (size_t i : chosen) some.push_back(layers[i]);
      return RunLayers(inner, std::move(hidden), some, path, carried);
    };
  }

  // If values are computed, returns what the micro-batch adds to the step's mean loss.
  double MicroBatch(int step, int k) {
    {
      PhaseScope phase(Phase::kData);
      micro_batch_ = k;
      int seq = config_.seq;
      for (auto& technique : techniques_) seq = technique->SeqOf(seq, micro_batches_done_);
      BatchShape shape{.rows = config_.batch / config_.micro_batches, .seq = seq};
      for (LoopTechnique* own : own_) shape = own->ShapeOf(shape, micro_batches_done_);
      ++micro_batches_done_;
      data_.SetShape(shape.rows, shape.seq);
      data_.Next(step, k, batch_);
    }
    // The first micro-batch allocates the gradients, and later ones add to them, so each kind has a
    // separate tape.
    MicroBatchTape* tape = tapes_[HasGradients() ? 1 : 0].get();
    if (tape == nullptr) return Execute();
    if (tape->ready()) {
      tape->Play(trained_);
      if (repeated_ != nullptr) ++*repeated_;
      return 0;
    }
    tape->Record();
    const double loss = Execute();
    tape->Stop(trained_);
    return loss;
  }

  bool HasGradients() const {
    return std::any_of(trained_.begin(), trained_.end(),
                       [](const at::Tensor& t) { return t.grad().defined(); });
  }

  double Execute() {
    {
      std::vector<std::unique_ptr<Held>> held = Hold();
      {
        PhaseScope phase(Phase::kForward);
        logits_ = model_.Logits(batch_);
        FinishPhase();
      }
      PhaseScope phase(Phase::kLoss);
      ModuleScope module("loss");
      loss_ = loss_function_(model_, logits_, batch_);
      // In a Python program, forward has returned by now, and only the loss is still referenced.
      if (!script_.keeps_outputs) logits_.reset();
      Release(held);
      // As in transformers' Trainer, this is outside of autocast.
      if (config_.micro_batches > 1) loss_ = loss_ / config_.micro_batches;
    }
    if (micro_batch_ == 0 && ZeroesLate()) {
      PhaseScope phase(Phase::kZeroGrad);
      ZeroGradients();
    }
    if (All(&Technique::trains)) {
      PhaseScope phase(Phase::kBackward);
      BeginningOfBackward().backward();
      FinishPhase();
    }
    const double value = measured_ ? loss_.item<double>() : 0;
    if (!script_.keeps_outputs) loss_.reset();
    return value;
  }

  // Waits for the device, so that the device's work counts as part of this phase. With several
  // ranks, does not wait, because the host of a real program continues during a collective.
  void FinishPhase() {
    if (sharing_ == nullptr) backend_.FinishWork();
  }

  at::Tensor BeginningOfBackward() {
    at::Tensor from = loss_;
    for (auto& technique : techniques_) from = technique->BeforeBackward(context_, from);
    return from;
  }

  const run::RunConfig& config_;
  Model& model_;
  Techniques& techniques_;
  std::vector<LoopTechnique*> own_;    // the techniques that change the loop
  SharesTraining* sharing_ = nullptr;  // the technique that splits the training among ranks
  const c10::Device device_;
  const bool measured_;
  const RunContext context_;
  Backend& backend_;
  Recorder& recorder_;
  const TrainingScript script_;
  DataSource data_;
  LossFunction loss_function_ = [](Model& model, at::Tensor& logits, const Batch& batch) {
    return model.Loss(logits, batch);
  };
  std::unique_ptr<Optimizer> optimizer_;
  std::function<void(Optimizer&)> optimizer_step_ = [](Optimizer& o) { o.Step(); };
  Batch batch_;
  at::Tensor logits_, loss_;
  int64_t micro_batches_done_ = 0;
  int micro_batch_ = 0;  // number within its step
  RunLength length_;
  std::chrono::steady_clock::time_point said_;
  int* const repeated_;
  std::vector<at::Tensor> trained_;
  std::unique_ptr<MicroBatchTape> tapes_[2];  // without and with existing gradients
};

// Returns the layers of each unit. Empty if the middle units differ, there are too few units, or
// the model has several stacks.
std::vector<std::vector<std::string>> AlikeUnits(const Techniques& techniques, Model& model) {
  constexpr size_t kFewest = 6;  // four of them are executed
  if (model.Stacks().size() != 1) return {};
  const std::vector<Module*> layers = model.Layers();
  std::unordered_map<const Module*, std::string> path_of;
  model.Visit([&](Module& module, const std::string& path) { path_of[&module] = path; });
  int together = 1;
  for (const auto& technique : techniques) {
    together = std::max(together, technique->layers_per_unit());
  }
  const auto size = static_cast<size_t>(together);
  std::vector<std::vector<std::string>> units((layers.size() + size - 1) / size);
  if (units.size() < kFewest) return {};
  for (size_t i = 0; i < layers.size(); ++i) units[i / size].push_back(path_of[layers[i]]);

  // The kind and the parameters of each layer as text, used to compare layers.
  std::vector<std::string> parameters(layers.size());
  const std::vector<Parameter*> all = model.Parameters();
  auto next = all.begin();
  for (size_t i = 0; i < layers.size(); ++i) {
    parameters[i] = layers[i]->kind() + ":";
    const std::string prefix = path_of[layers[i]] + ".";
    while (next != all.end() && !(*next)->name().starts_with(prefix)) ++next;
    for (; next != all.end() && (*next)->name().starts_with(prefix); ++next) {
      const ParameterSpec& spec = (*next)->spec();
      parameters[i] +=
          fmt::format("{} {} {} {};", (*next)->name().substr(prefix.size()),
                      fmt::join(spec.shape, "x"), static_cast<int>(spec.dtype), (*next)->trainable);
    }
  }
  for (size_t i = 2 * size; i < (units.size() - 1) * size; ++i) {
    if (parameters[i] != parameters[i - size]) return {};
  }
  return units;
}

// A sink that keeps the strings and discards all else.
class NamesSink final : public trace::EventSink {
 public:
  void Begin(const trace::TraceInfo&) override {}
  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    names.resize(first_id);
    names.insert(names.end(), values.begin(), values.end());
  }
  void Events(std::span<const trace::Event>) override {}
  void End(bool, std::string_view) override {}
  std::vector<std::string> names;
};

// Releases all tensors of the model.
void Dematerialize(Model& model) {
  for (Parameter* parameter : model.Parameters()) parameter->tensor.reset();
  model.Visit([](Module& module, const std::string&) {
    for (const auto& buffer : module.buffers()) buffer->tensor.reset();
  });
  model.layer_runner = nullptr;
}

}  // namespace

std::unique_ptr<Rehearsal> Rehearse(const run::RunConfig& config, Model& model,
                                    Techniques& techniques, Backend& backend,
                                    const run::DeviceProfile& device, const RunHooks& hooks) {
  if (!backend.rehearses() || !hooks.repeat_from_tape || model.script().keeps_outputs ||
      !AllOf(techniques, &Technique::repeats) || !AllOf(techniques, &Technique::rehearses)) {
    return nullptr;
  }
  auto rehearsal = std::make_unique<Rehearsal>();
  rehearsal->stack.units = AlikeUnits(techniques, model);
  if (rehearsal->stack.units.empty()) return nullptr;
  for (const Parameter* parameter : model.Parameters()) {
    if (parameter->trainable) rehearsal->stack.trained.push_back(parameter->name());
  }
  run::DeviceProfile roomy = device;
  roomy.memory_bytes = uint64_t{1} << 40;
  NamesSink sink;
  bool tried = false;
  {
    Recorder recorder(sink, backend.clock());
    if (!backend.Start(roomy, recorder).ok()) return nullptr;
    {
      Taps taps;
      const std::vector<std::unique_ptr<Held>> held = AroundRun(techniques, config, backend);
      try {
        Loop loop(config, model, techniques, backend, recorder, hooks);
        tried = loop.Rehearse(*rehearsal);
      } catch (const CancelledError&) {
        Dematerialize(model);
        backend.Stop().IgnoreError();
        throw;
      } catch (const std::exception&) {
        tried = false;  // the run will fail, too, and report the error
      }
      Dematerialize(model);
    }
    tried = backend.Stop().ok() && tried;
  }
  rehearsal->stack.strings = std::move(sink.names);
  return tried ? std::move(rehearsal) : nullptr;
}

absl::StatusOr<std::unique_ptr<Model>> BuildModel(const run::RunConfig& config,
                                                  Techniques& techniques) {
  const absl::StatusOr<run::ModelConfig> checked = run::CheckRun(config);
  if (!checked.ok()) return checked.status();
  ModelOptions options{.seq = config.seq};
  for (auto& technique : techniques) technique->OnOptions(options);
  auto model = MakeModel(config.model_config_json, options);
  if (!model.ok()) return model.status();
  for (auto& technique : techniques) {
    if (absl::Status status = technique->OnModel(**model); !status.ok()) return status;
  }
  return model;
}

void RunTraining(const run::RunConfig& config, Model& model, Techniques& techniques,
                 Backend& backend, Recorder& recorder, const RunHooks& hooks,
                 std::unique_ptr<Rehearsal> rehearsal) {
  const std::vector<std::unique_ptr<Held>> held = AroundRun(techniques, config, backend);
  Loop loop(config, model, techniques, backend, recorder, hooks, std::move(rehearsal));
  const Say progress = [&](int step, const std::string& text) {
    recorder.Flush();
    if (hooks.progress) hooks.progress(step, config.steps, text);
  };
  progress(0, "setting up the model");
  loop.SetUp();
  recorder.Marker(trace::kMarkerTrainingBegin);
  loop.PrepareData();
  loop.BeforeTraining();
  for (int step = 0; step < config.steps; ++step) {
    ThrowIfCancelled();
    if (step > 0) loop.BetweenSteps(step);
    loop.Step(step, progress);
    progress(step + 1, fmt::format("step {} of {}{}", step + 1, config.steps, loop.LengthText()));
  }
  loop.AfterTraining();
  loop.DropBatch();
  recorder.Marker(trace::kMarkerTrainingEnd);
}

}  // namespace vramscope::trainer
