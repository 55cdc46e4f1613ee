#include "trainer/backends/cuda/micro_batch_tape.h"

#include <torch/types.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trainer/backends/cuda/emulated.h"
#include "trainer/capture/cancel.h"
#include "trainer/capture/device_work.h"
#include "trainer/capture/extended_tape.h"
#include "trainer/capture/tape.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer::cuda {
namespace {

using trace::EventKind;

class CudaTape final : public MicroBatchTape {
 public:
  CudaTape(Recorder& recorder, const std::unique_ptr<RecordedRun>& run, c10::Device device)
      : recorder_(&recorder), run_(run), device_(device) {}
  ~CudaTape() override {
    if (recording_) EndRecording();
  }

  void Record() override {
    recording_ = true;
    recorder_->BeginTape(&tape_);
    Emulated().observe(
        [](void* recorder, int move, int64_t duration_ns) {
          static_cast<Recorder*>(recorder)->OnMove(move, duration_ns);
        },
        recorder_);
  }

  void Stop(std::span<const at::Tensor> trained) override {
    EndRecording();
    gradients_.clear();
    std::vector<uint64_t> kept;
    for (size_t i = 0; i < trained.size(); ++i) {
      const at::Tensor& grad = trained[i].grad();
      if (!grad.defined()) continue;
      const uint64_t id = recorder_->IdOf(StorageKey(grad));
      // This gradient existed before the tape and is only added to, so the tape does not set it.
      if (id < tape_.first_allocation || id >= tape_.end_allocation) continue;
      kept.push_back(id);
      gradients_.push_back({i, id - tape_.first_allocation, grad.storage().nbytes(),
                            grad.sizes().vec(), grad.strides().vec(), grad.storage_offset(),
                            grad.dtype()});
    }
    std::sort(kept.begin(), kept.end());
    ready_ = CheckTape(kept) &&
             std::none_of(tape_.works.begin(), tape_.works.end(),
                          [](const TapeWork& work) { return work.move == kOtherMove; });
    if (!ready_) tape_ = {};
  }

  bool ready() const override { return ready_; }

  bool Extend(const ShortenedStack& stack, Recorder& recorder) override {
    if (!ready_) return false;
    ready_ = false;
    std::optional<ExtendedTape> whole = trainer::Extend(tape_, stack.strings, stack.units);
    if (!whole || !ExtendGradients(stack, *whole)) return false;
    tape_ = std::move(whole->tape);
    std::vector<uint64_t> kept;
    for (const Gradient& gradient : gradients_) kept.push_back(gradient.allocation);
    std::sort(kept.begin(), kept.end());
    if (!CheckTape(kept)) return false;
    std::vector<trace::StringId> names;
    for (const std::string& name : whole->strings) names.push_back(recorder.Intern(name));
    for (trace::Event& event : tape_.events) {
      event.name = names[event.name.value];
      event.module = names[event.module.value];
    }
    for (TapeWork& work : tape_.works) {
      for (trace::StringId* name :
           {&work.what.name, &work.what.op, &work.what.module, &work.call.name}) {
        *name = names[name->value];
      }
    }
    recorder_ = &recorder;
    makes_workspaces_ = true;
    return ready_ = true;
  }

  void Play(std::span<const at::Tensor> trained) override {
    const c10::DeviceGuard guard(device_);
    std::vector<void*> address(tape_.skipped.size());
    try {
      PlayEvents(address);
    } catch (...) {  // cancelled
      for (void* at : address) {
        if (at != nullptr) allocator_.raw_deallocate(at);
      }
      throw;
    }
    // The storage of each allocation; several gradients may be views of the same one.
    std::unordered_map<uint64_t, c10::Storage> storages;
    for (const Gradient& g : gradients_) {
      if (void* at = std::exchange(address[g.allocation], nullptr)) {
        storages.emplace(g.allocation,
                         c10::Storage(c10::Storage::use_byte_size_t{}, g.bytes,
                                      c10::DataPtr(at, at, allocator_.raw_deleter(), device_),
                                      &allocator_, /*resizable=*/true));
      }
      at::Tensor grad = at::detail::make_tensor<c10::TensorImpl>(
          c10::Storage(storages.at(g.allocation)), c10::DispatchKeySet(c10::DispatchKey::CUDA),
          g.dtype);
      grad.unsafeGetTensorImpl()->set_sizes_and_strides(g.sizes, g.strides, g.offset);
      trained[g.parameter].mutable_grad() = std::move(grad);
    }
  }

 private:
  struct Gradient {
    size_t parameter = 0;     // index into the trained tensors
    uint64_t allocation = 0;  // number within the tape
    size_t bytes = 0;         // size of its storage
    std::vector<int64_t> sizes, strides;
    int64_t offset = 0;
    caffe2::TypeMeta dtype;
  };

  // For all units between the two middle units, adds gradients like those of the middle units.
  bool ExtendGradients(const ShortenedStack& stack, const ExtendedTape& whole) {
    std::unordered_map<std::string_view, size_t> index;
    for (size_t i = 0; i < stack.trained.size(); ++i) index.emplace(stack.trained[i], i);
    const size_t units = stack.units.size();
    // Returns the unit of a parameter, its layer within the unit, and the rest of its name.
    const auto locate = [&](std::string_view name) -> std::tuple<size_t, size_t, std::string_view> {
      for (size_t unit : {size_t{0}, size_t{1}, units - 2, units - 1}) {
        for (size_t layer = 0; layer < stack.units[unit].size(); ++layer) {
          const std::string& path = stack.units[unit][layer];
          if (name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.')
            return {unit, layer, name.substr(path.size())};
        }
      }
      return {units, 0, {}};
    };
    std::vector<Gradient> all;
    size_t of_middle[2] = {0, 0};
    for (const Gradient& gradient : gradients_) {
      const auto [unit, layer, rest] = locate(stack.trained[gradient.parameter]);
      const bool middle = unit == 1 || unit == units - 2;
      if (middle) ++of_middle[unit == 1 ? 0 : 1];
      if (unit == 1) continue;  // it gets a copy of the gradients of unit `units - 2`
      for (size_t to = middle ? 1 : unit; to <= unit; ++to) {
        Gradient copy = gradient;
        if (middle) {
          const auto found = index.find(stack.units[to][layer] + std::string(rest));
          if (found == index.end()) return false;
          copy.parameter = found->second;
        }
        copy.allocation = unit == units ? whole.places[gradient.allocation].row
                                        : whole.RowOf(gradient.allocation, unit, to);
        if (copy.allocation == ExtendedTape::kNone) return false;
        all.push_back(std::move(copy));
      }
    }
    gradients_ = std::move(all);
    return of_middle[0] == of_middle[1];
  }

  // If a matrix product allocates a gradient that is as large as a workspace, it is recorded as a
  // workspace. The tape skips workspaces, but must not skip a gradient.
  bool CheckTape(const std::vector<uint64_t>& kept) {
    if (!tape_.Check(kept)) return false;
    for (uint64_t id : kept) tape_.skipped[id - tape_.first_allocation] = false;
    return true;
  }

  void EndRecording() {
    Emulated().observe(nullptr, nullptr);
    recorder_->EndTape();
    recording_ = false;
  }

  // `address` receives the address of each of the tape's live allocations.
  void PlayEvents(std::vector<void*>& address) {
    const auto row = [&](const trace::Event& e) { return e.id - tape_.first_allocation; };
    const auto free = [&](const trace::Event& like, void* at) {
      const PlayedEvent played(*run_, like);
      allocator_.raw_deallocate(at);
    };
    auto work = tape_.works.begin();
    auto sorted = tape_.sorted.begin();
    for (size_t i = 0; i < tape_.events.size(); ++i) {
      const trace::Event& e = tape_.events[i];
      if (i % 256 == 0) ThrowIfCancelled();
      for (; work != tape_.works.end() && work->first <= i; ++work) Repeat(*work);
      if (sorted != tape_.sorted.end() && sorted->first == i) {
        // These frees were made in the order of their addresses. Repeats them in the order of the
        // addresses that the blocks have now.
        std::vector<void*> addresses;
        for (; addresses.size() < sorted->frees; ++i) {
          const trace::Event& one = tape_.events[i];
          if (one.kind == EventKind::kFreeRequested)
            addresses.push_back(std::exchange(address[row(one)], nullptr));
        }
        std::sort(addresses.begin(), addresses.end());
        for (void* at : addresses) free(e, at);
        ++sorted;  // `i` is now at the last free's completion
        continue;
      }
      switch (e.kind) {
        case EventKind::kAlloc: {
          const bool workspace = tape_.skipped[row(e)];
          if (workspace && !makes_workspaces_) break;
          const PlayedEvent played(*run_, e);
          void* at = allocator_.raw_allocate(e.bytes);
          if (workspace) {
            run_->KeepUntilStop(at);
          } else {
            address[row(e)] = at;
          }
          break;
        }
        case EventKind::kFreeRequested:
          free(e, std::exchange(address[row(e)], nullptr));
          break;
        case EventKind::kFreeCompleted:
          break;
        case EventKind::kRetag:
          if (!tape_.skipped[row(e)])
            recorder_->PlayRetag(e, reinterpret_cast<uint64_t>(address[row(e)]));
          break;
        default:
          recorder_->PlayOther(e);
      }
    }
    for (; work != tape_.works.end(); ++work) Repeat(*work);
    makes_workspaces_ = false;
  }

  void Repeat(const TapeWork& work) {
    emulated::RepeatedMove made;
    Emulated().repeat(work.move, work.duration_ns, work.waits, &made);
    if (!work.reported) return;
    recorder_->PlayDeviceWork(work,
                              {made.start_ns, made.end_ns, made.call_begin_ns, made.call_end_ns});
  }

  Recorder* recorder_;
  const std::unique_ptr<RecordedRun>& run_;
  const c10::Device device_;
  c10::Allocator& allocator_ = *c10::GetAllocator(c10::kCUDA);
  Tape tape_;
  std::vector<Gradient> gradients_;
  bool recording_ = false;
  bool ready_ = false;
  bool makes_workspaces_ = false;  // playing must allocate the workspaces, because none exist yet
};

}  // namespace

std::unique_ptr<MicroBatchTape> MakeMicroBatchTape(Recorder& recorder,
                                                   const std::unique_ptr<RecordedRun>& run,
                                                   c10::Device device) {
  return std::make_unique<CudaTape>(recorder, run, device);
}

}  // namespace vramscope::trainer::cuda
