#include "tests/bench/make_snapshot.h"

#include <fmt/format.h>

#include <cstdio>
#include <random>
#include <string_view>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/base/hash_map.h"

namespace vramscope::bench {
namespace {

constexpr uint64_t kStartUs = 1'760'000'000'000'000;

struct Frame {
  std::string name, file;
  int line;
};

// --- Events.

struct Entry {
  const char* action;
  uint64_t address, bytes;
  uint32_t list;  // index of a list of frames
  uint32_t time_us;
};

struct Mark {
  bool begin;
  std::string name;
  uint32_t time_us;
};

class Training : allocator::SegmentObserver {
 public:
  explicit Training(const SnapshotSize& size)
      : size_(size), random_(size.seed), allocator_({.first_address = 0x7f2a00000000}, this) {
    MakeStacks();
  }

  void Run();

  std::vector<Frame> frames;
  std::vector<std::vector<uint32_t>> stacks;
  std::vector<uint32_t> stack_of_list;  // each list of frames is a separate Python object
  std::vector<Entry> entries;
  std::vector<Mark> marks;
  std::vector<allocator::CachingAllocator::SnapshotSegment> segments;
  base::HashMap<uint64_t, uint32_t> list_of_block;
  uint64_t pending = 0;  // the recording ends before the free of this block is completed

 private:
  struct Tensor {
    uint64_t address = 0, bytes = 0;
  };

  void OnSegmentAlloc(const allocator::Segment& s) override {
    Note("segment_alloc", s.address, s.bytes, list_);
  }
  void OnSegmentFree(const allocator::Segment& s) override {
    Note("segment_free", s.address, s.bytes, list_);
  }
  void OnOutOfMemory(uint64_t, uint64_t) override {}

  uint32_t Frame_(std::string name, std::string file, int line) {
    const auto [it, fresh] =
        frame_ids_.try_emplace(fmt::format("{}\n{}\n{}", name, file, line), frames.size());
    if (fresh) frames.push_back({std::move(name), std::move(file), line});
    return it->second;
  }
  uint64_t Random(uint64_t n) { return random_() % n; }
  void MakeStacks();

  bool Full() const { return entries.size() >= size_.events; }
  void Note(const char* action, uint64_t address, uint64_t bytes, uint32_t list) {
    time_us_ += 1 + static_cast<uint32_t>(Random(40));
    if (!Full()) entries.push_back({action, address, bytes, list, time_us_});
  }
  uint32_t NewList(uint32_t site) {
    stack_of_list.push_back(site % static_cast<uint32_t>(stacks.size()));
    return static_cast<uint32_t>(stack_of_list.size() - 1);
  }
  Tensor New(uint64_t bytes, uint32_t site) {
    if (Full()) return {};
    list_ = NewList(site);
    const auto block = allocator_.Malloc(bytes, 0);
    if (!block.ok()) return {};
    Note("alloc", block->address, bytes, list_);
    list_of_block[block->address] = list_;
    return {block->address, bytes};
  }
  void Drop(Tensor t, uint32_t site) {
    if (Full() || t.bytes == 0) return;
    const uint32_t list = NewList(site);
    Note("free_requested", t.address, t.bytes, list);
    if (Full()) {
      pending = t.address;
      return;
    }
    if (!allocator_.Free(t.address).ok()) return;
    Note("free_completed", t.address, t.bytes, list);
  }
  void Begin(std::string name) { marks.push_back({true, std::move(name), time_us_}); }
  void End(std::string name) { marks.push_back({false, std::move(name), time_us_}); }
  void Step(int number);

  const SnapshotSize size_;
  std::mt19937_64 random_;
  allocator::CachingAllocator allocator_;
  base::HashMap<std::string, uint32_t> frame_ids_;
  uint32_t list_ = 0, time_us_ = 0;
  std::vector<uint64_t> parameters_;
  bool has_optimizer_state_ = false;
};

void Training::MakeStacks() {
  static constexpr const char* kOps[] = {"mm",   "addmm",   "bmm",        "add",     "mul",
                                         "gelu", "softmax", "layer_norm", "dropout", "embedding",
                                         "div",  "sum",     "pow",        "sqrt",    "lerp"};
  static constexpr const char* kAllocator[] = {
      "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)",
      "at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::DispatchKeySet)",
      "at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)",
      "at::native::empty_cuda(c10::ArrayRef<long>, std::optional<c10::ScalarType>)"};
  static constexpr const char* kLayers[] = {
      "at::(anonymous namespace)::wrapper_CUDA_{}(at::Tensor const&, at::Tensor const&)",
      "at::_ops::{}::redispatch(c10::DispatchKeySet, at::Tensor const&, at::Tensor const&)",
      "torch::autograd::VariableType::(anonymous namespace)::{}(at::Tensor const&)",
      "torch::autograd::THPVariable_{}(_object*, _object*, _object*)"};
  static constexpr const char* kPython[] = {"forward", "_call_impl", "_wrapped_call_impl",
                                            "backward", "step"};
  static constexpr const char* kFiles[] = {
      "/home/user/train/model.py", "/usr/lib/python3/torch/nn/modules/module.py",
      "/usr/lib/python3/torch/nn/modules/linear.py", "/usr/lib/python3/torch/optim/adamw.py"};
  for (uint32_t i = 0; i < size_.stacks; ++i) {
    std::vector<uint32_t> s;
    const char* op = kOps[i % std::size(kOps)];
    for (const char* name : kAllocator) s.push_back(Frame_(name, "??", 0));
    for (const char* layer : kLayers)
      if (Random(20) < 17) s.push_back(Frame_(fmt::format(fmt::runtime(layer), op), "??", 0));
    for (uint64_t d = 3 + Random(8); d > 0; --d)
      s.push_back(Frame_(kPython[Random(std::size(kPython))], kFiles[Random(std::size(kFiles))],
                         static_cast<int>(20 + Random(380))));
    s.push_back(Frame_("<module>", "/home/user/train/train.py", 249));
    for (const char* name : {"_PyEval_EvalFrameDefault", "PyEval_EvalCode", "Py_RunMain",
                             "Py_BytesMain", "__libc_start_main", "_start"})
      s.push_back(Frame_(name, "??", 0));
    stacks.push_back(std::move(s));
  }
}

void Training::Step(int number) {
  constexpr uint64_t kTokens = 2048, kWidth = 1024, kHidden = 4096, kHeads = 16 * 512 * 512;
  const uint64_t saved[] = {kTokens * kWidth,  kTokens,          kTokens * kWidth,
                            kTokens * kWidth,  kTokens * kWidth, 4 * kHeads,
                            4 * kHeads,        kTokens * kWidth, kTokens * kHidden,
                            kTokens * kHidden, kTokens * kWidth};
  const std::string name = fmt::format("ProfilerStep#{}", number);
  Begin(name);
  std::vector<Tensor> kept = {New(kTokens * 8, 1), New(kTokens * 8, 2)};
  for (uint32_t layer = 0; layer < size_.layers; ++layer)
    for (uint32_t k = 0; k < std::size(saved); ++k) {
      const Tensor temporary = k % 2 == 0 ? New(saved[k] * 4, 10 + k) : Tensor{};
      kept.push_back(New(saved[k] * 4, 30 + k + 13 * (layer % 7)));
      if (Random(4) == 0) Drop(New((1 + Random(4000)) * 256, 130 + k), 131 + k);
      Drop(temporary, 150 + k);
    }
  std::vector<Tensor> gradients;
  size_t parameter = parameters_.size();
  for (uint32_t layer = 0; layer < size_.layers; ++layer)
    for (uint32_t k = 0; k < std::size(saved); ++k) {
      const Tensor activation = kept.back();
      kept.pop_back();
      const Tensor temporary = New(activation.bytes, 200 + k + 13 * (layer % 7));
      if (k < 7 && parameter > 0) gradients.push_back(New(parameters_[--parameter] * 4, 300 + k));
      Drop(activation, 320 + k);
      Drop(temporary, 340 + k);
    }
  for (const Tensor& t : kept) Drop(t, 363);
  Begin("Optimizer.step#AdamW.step");
  if (!has_optimizer_state_)
    for (const uint64_t p : parameters_)
      for (const uint32_t site : {400u, 401u}) New(p * 4, site);
  has_optimizer_state_ = true;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto site = static_cast<uint32_t>(i % 40);
    const Tensor a = New(parameters_[i] * 4, 410 + site), b = New(parameters_[i] * 4, 450 + site);
    Drop(a, 490);
    Drop(b, 491);
  }
  End("Optimizer.step#AdamW.step");
  for (const Tensor& g : gradients) Drop(g, 495);
  End(name);
}

void Training::Run() {
  for (uint32_t layer = 0; layer < size_.layers; ++layer)
    for (const uint64_t p :
         {1024 * 1024, 1024 * 1024, 1024 * 1024, 1024 * 1024, 4096 * 1024, 4096 * 1024, 1024})
      parameters_.push_back(p);
  for (const uint64_t p : parameters_) New(p * 4, 0);
  for (int step = 1; !Full(); ++step) Step(step);
  segments = allocator_.Snapshot();
}

// --- Encoding.

class Pickle {
 public:
  explicit Pickle(std::FILE* file) : file_(file) { Op("\x80\x04"); }
  void Op(std::string_view bytes) {
    out_ += bytes;
    if (out_.size() > (size_t{1} << 20)) Flush();
  }
  void Little(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  uint32_t Memoize() {
    out_ += '\x94';
    return next_++;
  }
  void Get(uint32_t id) {
    out_ += id < 256 ? 'h' : 'j';
    Little(id, id < 256 ? 1 : 4);
  }
  void Text(std::string_view text) {
    const auto [it, fresh] = texts_.try_emplace(std::string(text), next_);
    if (!fresh) return Get(it->second);
    const bool brief = text.size() < 256;
    out_ += brief ? '\x8c' : 'X';
    Little(text.size(), brief ? 1 : 4);
    Op(text);
    Memoize();
  }
  void Number(uint64_t value) {
    const int n = value < 256 ? 1 : value < 65536 ? 2 : value < uint64_t{1} << 31 ? 4 : 0;
    if (n != 0) {
      out_ += n == 1 ? 'K' : n == 2 ? 'M' : 'J';
      return Little(value, n);
    }
    int bytes = 5;
    while (value >> (8 * bytes - 1) != 0) ++bytes;
    out_ += '\x8a';
    Little(static_cast<uint64_t>(bytes), 1);
    Little(value, bytes);
  }
  // Calls write(i) for each item. Groups the items into batches, as Python's pickle does.
  template <class Write>
  void Items(size_t count, bool dict, Write write) {
    for (size_t i = 0; i < count; ++i) {
      if (i % 1000 == 0) out_ += '(';
      write(i);
      if ((i + 1) % 1000 == 0 || i + 1 == count) Op(dict ? "u" : "e");
    }
  }
  uint32_t List() {
    out_ += ']';
    return Memoize();
  }
  void Dict() {
    out_ += '}';
    Memoize();
    out_ += '(';
  }
  bool Finish() {
    out_ += '.';
    Flush();
    return good_;
  }

 private:
  void Flush() {
    good_ = good_ && std::fwrite(out_.data(), 1, out_.size(), file_) == out_.size();
    out_.clear();
  }
  std::FILE* file_;
  std::string out_;
  uint32_t next_ = 0;
  base::HashMap<std::string, uint32_t> texts_;
  bool good_ = true;
};

class Writer {
 public:
  Writer(const Training& t, std::FILE* file)
      : t_(t), p_(file), frame_(t.frames.size(), kNone), list_(t.stack_of_list.size(), kNone) {}

  bool Write() {
    p_.Dict();
    p_.Text("segments");
    p_.List();
    p_.Items(t_.segments.size(), false, [&](size_t i) { Segment(t_.segments[i]); });
    p_.Text("device_traces");
    p_.List();
    p_.Op("(");
    p_.List();
    p_.Items(t_.entries.size(), false, [&](size_t i) { Entry_(t_.entries[i]); });
    p_.Op("e");
    p_.Text("allocator_settings");
    p_.Dict();
    Key("PYTORCH_CUDA_ALLOC_CONF").Text("");
    Key("expandable_segments").Op("\x89");
    Key("garbage_collection_threshold").Op({"G\0\0\0\0\0\0\0\0", 9});
    p_.Op("u");
    p_.Text("external_annotations");
    p_.List();
    p_.Items(t_.marks.size(), false, [&](size_t i) {
      p_.Dict();
      Key("stage").Text(t_.marks[i].begin ? "START" : "END");
      Key("name").Text(t_.marks[i].name);
      Key("device").Number(0);
      Key("time_us").Number(kStartUs + t_.marks[i].time_us);
      p_.Op("u");
    });
    p_.Op("u");
    return p_.Finish();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  Pickle& Key(std::string_view key) {
    p_.Text(key);
    return p_;
  }
  void Frames(uint32_t list) {
    p_.Text("frames");
    if (list != kNone && list_[list] != kNone) return p_.Get(list_[list]);
    const uint32_t id = p_.List();
    if (list == kNone) return;
    list_[list] = id;
    const std::vector<uint32_t>& stack = t_.stacks[t_.stack_of_list[list]];
    p_.Items(stack.size(), false, [&](size_t i) {
      uint32_t& memo = frame_[stack[i]];
      if (memo != kNone) return p_.Get(memo);
      const Frame& f = t_.frames[stack[i]];
      p_.Op("}");
      memo = p_.Memoize();
      p_.Op("(");
      Key("name").Text(f.name);
      Key("filename").Text(f.file);
      Key("line").Number(static_cast<uint64_t>(f.line));
      p_.Op("u");
    });
  }
  void Entry_(const Entry& e) {
    p_.Dict();
    Key("action").Text(e.action);
    Key("addr").Number(e.address);
    Key("size").Number(e.bytes);
    Key("stream").Number(0);
    Key("time_us").Number(kStartUs + e.time_us);
    Key("compile_context").Text("N/A");
    Key("user_metadata").Text("");
    Frames(e.list);
    p_.Op("u");
  }
  void Segment(const allocator::CachingAllocator::SnapshotSegment& s) {
    p_.Dict();
    Key("device").Number(0);
    Key("address").Number(s.segment.address);
    Key("total_size").Number(s.segment.bytes);
    Key("stream").Number(0);
    Key("segment_type").Text(s.segment.pool == trace::Pool::kSmall ? "small" : "large");
    Key("segment_pool_id").Op({"K\0K\0\x86", 5});
    p_.Memoize();
    Key("is_expandable").Op("\x89");
    Frames(kNone);
    p_.Text("blocks");
    p_.List();
    p_.Items(s.blocks.size(), false, [&](size_t i) {
      const auto& b = s.blocks[i];
      p_.Dict();
      Key("address").Number(b.block.address);
      Key("size").Number(b.block.bytes_rounded);
      Key("requested_size").Number(b.live ? b.block.bytes_requested : 0);
      Key("state").Text(!b.live                         ? "inactive"
                        : b.block.address == t_.pending ? "active_pending_free"
                                                        : "active_allocated");
      const auto list = t_.list_of_block.find(b.block.address);
      Frames(b.live && list != t_.list_of_block.end() ? list->second : kNone);
      p_.Op("u");
    });
    p_.Op("u");
  }

  const Training& t_;
  Pickle p_;
  std::vector<uint32_t> frame_, list_;  // positions in the memo
};

}  // namespace

absl::Status WriteSnapshot(const SnapshotSize& size, const std::string& path) {
  Training training(size);
  training.Run();
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return absl::UnavailableError("cannot write " + path);
  const bool good = Writer(training, file).Write();
  return std::fclose(file) == 0 && good ? absl::OkStatus()
                                        : absl::UnavailableError("cannot write all of " + path);
}

}  // namespace vramscope::bench
