// Native functions for the most frequent work of the Python hooks: marks at every call of a module,
// for every tensor that autograd saves, and for every tensor of a model. Python calls them
// directly. A mark takes less than a microsecond here, and several microseconds in Python.
//
// emulated/python/vramscope/native.py makes Python functions from the table at the end;
// saved_tensors.py and hooks.py explain them. Call with the interpreter's lock held. No function
// creates an object that Python's garbage collector tracks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "cupti/marks.h"
#include "cupti/python_api.h"

#define VRAMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))

extern "C" uint64_t vramscope_history_requests(int device);

namespace vramscope::cupti {
namespace {

// The values in profiler/trace/types.h.
constexpr int64_t kParameter = 1, kBuffer = 2, kGradient = 3, kInput = 6;
constexpr int64_t kNoModule = -1, kNoneYet = -2;
constexpr int kDeepest = 4;  // maximum nesting of lists that are searched

const PythonApi& Py() { return PythonApi::The(); }

// Owns a reference.
class Ref {
 public:
  explicit Ref(PyObject* object) : object_(object) {}
  ~Ref() {
    if (object_ != nullptr) Py().DecRef(object_);
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// The object that autograd keeps instead of a saved tensor. It owns a reference to the tensor until
// autograd releases the object.
struct Saved {
  PyObject* tensor;
  uint64_t address;  // address of the tensor's block; 0: not on a GPU
  int64_t number;
  int64_t module;  // module that saved the tensor
  int64_t version;
};

struct State {
  // Objects of PyTorch.
  PyObject *tensor = nullptr, *parameter = nullptr, *current_device = nullptr;
  PyObject* count = nullptr;    // counts allocations and frees; null: the allocator reports them
  PyObject* address = nullptr;  // returns the address of a tensor of another class
  bool several_devices = false;
  PyObject* saved = nullptr;  // the class of saved objects
  size_t head = 0;            // size of a Python object's header, which precedes its own data

  // Names of attributes.
  PyObject *is_cuda = nullptr, *data_ptr = nullptr, *detach = nullptr, *version = nullptr,
           *grad = nullptr, *grad_fn = nullptr, *get_device = nullptr, *parameters = nullptr,
           *buffers = nullptr, *own_parameters = nullptr, *own_buffers = nullptr,
           *own_modules = nullptr;

  struct Told {
    uint64_t address;
    int64_t number;
  };
  // The tensors saved since the last mark, ordered by number. Address 0: already released.
  std::vector<Told> kept;
  std::vector<int64_t> released;
  int64_t numbers = 0;
  bool in_backward = false;
  int64_t backward_module = kNoneYet;
  std::array<uint64_t, 256> last = {};  // allocations and frees on each device at its last mark
  std::array<bool, 256> used = {};      // devices with tensors
};

State& The() {
  static auto* state = new State;  // never destroyed: used while the process ends
  return *state;
}

// Returns the modules that this thread is executing, outermost first. Each is the number of its
// name, or kNoModule if the module has no marks.
std::vector<int64_t>& Modules() {
  thread_local std::vector<int64_t> modules;
  return modules;
}

PyObject* Number(int64_t number) { return Py().FromLong(number); }

// If the conversion fails, clears the error and returns 0.
uint64_t AsNumber(const Ref& value) {
  if (value) {
    const uint64_t number = Py().AsUnsignedLongLong(value.get());
    if (number != UINT64_MAX || Py().ErrorOccurred() == nullptr) return number;
  }
  Py().ErrorClear();
  return 0;
}

bool IsTrue(PyObject* object, PyObject* name) {
  const Ref value(Py().GetAttr(object, name));
  const int truth = value ? Py().IsTrue(value.get()) : -1;
  if (truth < 0) Py().ErrorClear();
  return truth > 0;
}

uint64_t Requests(int device) {
  const State& s = The();
  if (s.count == nullptr) return vramscope_history_requests(device);
  const Ref number(Number(device));
  return AsNumber(Ref(Py().CallFunctionObjArgs(s.count, number.get(), nullptr)));
}

struct Place {
  int device = 0;
  uint64_t requests = 0;
  int64_t now = 0;
};

// Returns the current position in the current device's history, and the time.
Place Here() {
  State& s = The();
  MarksFile& file = MarksFile::The();
  Place here;
  here.device = static_cast<uint8_t>(AsNumber(Ref(Py().CallObject(s.current_device, nullptr))));
  here.requests = Requests(here.device);
  here.now = file.Now();
  s.last[here.device] = here.requests;
  if (!s.several_devices) return here;
  if (here.requests > 0) s.used[here.device] = true;
  for (int other = 0; other < static_cast<int>(s.used.size()); ++other) {
    if (!s.used[other] || other == here.device) continue;
    // Each other device with new allocations also gets a mark.
    const uint64_t requests = Requests(other);
    if (requests == s.last[other]) continue;
    s.last[other] = requests;
    file.Put('e', other, requests, here.now, {});
  }
  return here;
}

void Put(char kind, const Place& place, std::initializer_list<int64_t> arguments = {}) {
  MarksFile::The().Put(kind, place.device, place.requests, place.now,
                       {arguments.begin(), arguments.size()});
}

// Writes marks for tensors that were saved or released since the last mark. These marks get the
// position of the next mark.
void TellSaved(const Place& here) {
  State& s = The();
  for (const State::Told& one : s.kept)
    if (one.address != 0) Put('s', here, {static_cast<int64_t>(one.address), one.number});
  s.kept.clear();
  for (const int64_t number : s.released) Put('r', here, {number});
  s.released.clear();
}

void Mark(char kind, std::span<const int64_t> arguments) {
  if (!MarksFile::The().on()) return;
  const Place here = Here();
  TellSaved(here);
  MarksFile::The().Put(kind, here.device, here.requests, here.now, arguments);
}

// --- categories ---

uint64_t AddressOf(PyObject* tensor) {
  const PythonApi& py = Py();
  State& s = The();
  const Ref type(py.TypeOf(tensor));
  if (type.get() != s.tensor && type.get() != s.parameter)
    return AsNumber(Ref(py.CallFunctionObjArgs(s.address, tensor, nullptr)));
  if (!IsTrue(tensor, s.is_cuda)) return 0;
  if (s.several_devices)
    s.used[static_cast<uint8_t>(
        AsNumber(Ref(py.CallMethodObjArgs(tensor, s.get_device, nullptr))))] = true;
  return AsNumber(Ref(py.CallMethodObjArgs(tensor, s.data_ptr, nullptr)));
}

void TagTensor(int64_t category, PyObject* tensor, const Place& here) {
  const PythonApi& py = Py();
  if (category == kInput) {  // a tensor with a grad_fn is the output of another module
    const Ref made_by(py.GetAttr(tensor, The().grad_fn));
    if (!made_by) py.ErrorClear();
    if (made_by && made_by.get() != py.none) return;
  }
  if (const uint64_t address = AddressOf(tensor); address != 0)
    Put('t', here, {category, static_cast<int64_t>(address)});
}

// Tags the tensors in nested lists and dicts.
void TagAll(int64_t category, PyObject* value, const Place& here, int depth = 0) {
  const PythonApi& py = Py();
  const State& s = The();
  if (value == py.none) return;
  const Ref type(py.TypeOf(value));
  if (type.get() == s.tensor || type.get() == s.parameter) return TagTensor(category, value, here);
  const unsigned long flags = py.TypeFlags(type.get());
  if ((flags & (kIsInt | kIsText | kIsBytes)) != 0) return;
  if ((flags & (kIsDict | kIsList | kIsTuple)) == 0) {
    const int is = py.IsInstance(value, s.tensor);
    if (is < 0) py.ErrorClear();
    if (is > 0) TagTensor(category, value, here);
    return;
  }
  if (depth == kDeepest) return;
  if ((flags & kIsDict) != 0) {
    std::ptrdiff_t at = 0;
    PyObject *key = nullptr, *part = nullptr;
    while (py.DictNext(value, &at, &key, &part) != 0) TagAll(category, part, here, depth + 1);
    return;
  }
  const bool list = (flags & kIsList) != 0;
  for (std::ptrdiff_t i = 0; i < (list ? py.ListSize(value) : py.TupleSize(value)); ++i)
    TagAll(category, list ? py.ListItem(value, i) : py.TupleItem(value, i), here, depth + 1);
}

// Tags the gradient of a tensor, if it has one.
void TagGradient(PyObject* tensor, const Place& here) {
  const Ref gradient(Py().GetAttr(tensor, The().grad));
  if (!gradient) return Py().ErrorClear();
  TagAll(kGradient, gradient.get(), here, kDeepest);
}

template <typename Visit>
void ForEachOf(PyObject* object, PyObject* method, Visit visit) {
  const PythonApi& py = Py();
  const Ref all(py.CallMethodObjArgs(object, method, nullptr));
  const Ref iterator(all ? py.GetIter(all.get()) : nullptr);
  if (iterator)
    while (true) {
      const Ref one(py.Next(iterator.get()));
      if (!one) break;
      visit(one.get());
    }
  if (py.ErrorOccurred() != nullptr) py.ErrorClear();
}

void TagModule(PyObject* module, bool gradients, const Place& here,
               std::unordered_set<PyObject*>& seen) {
  const PythonApi& py = Py();
  const State& s = The();
  const auto parameter = [&](PyObject* tensor) {
    if (tensor == py.none) return;
    if (gradients)
      TagGradient(tensor, here);
    else
      TagAll(kParameter, tensor, here, kDeepest);
  };
  if (!seen.insert(module).second) return;
  const std::array<Ref, 3> parts = {Ref(py.GetAttr(module, s.own_parameters)),
                                    Ref(py.GetAttr(module, s.own_buffers)),
                                    Ref(py.GetAttr(module, s.own_modules))};
  const bool plain = std::all_of(parts.begin(), parts.end(), [&](const Ref& part) {
    if (!part) return false;
    const Ref type(py.TypeOf(part.get()));
    return (py.TypeFlags(type.get()) & kIsDict) != 0;
  });
  if (!plain) {  // a TorchScript module
    py.ErrorClear();
    ForEachOf(module, s.parameters, parameter);
    if (!gradients)
      ForEachOf(module, s.buffers, [&](PyObject* t) { TagAll(kBuffer, t, here, kDeepest); });
    return;
  }
  const auto each = [&](const Ref& part, auto visit) {
    std::ptrdiff_t at = 0;
    PyObject *key = nullptr, *value = nullptr;
    while (py.DictNext(part.get(), &at, &key, &value) != 0) visit(value);
  };
  each(parts[0], parameter);
  if (!gradients) each(parts[1], [&](PyObject* t) { TagAll(kBuffer, t, here, kDeepest); });
  each(parts[2], [&](PyObject* child) {
    if (child != py.none) TagModule(child, gradients, here, seen);
  });
}

// --- functions for Python ---

bool Arguments(PyObject* const* arguments, std::ptrdiff_t count, std::span<int64_t> numbers) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    numbers[i] = Py().AsLongLong(arguments[i]);
    if (numbers[i] != -1 || Py().ErrorOccurred() == nullptr) continue;
    Py().ErrorClear();  // an address of 2^63 or more
    numbers[i] = static_cast<int64_t>(Py().AsUnsignedLongLong(arguments[i]));
    if (Py().ErrorOccurred() != nullptr) return false;
  }
  return true;
}

char KindOf(PyObject* text) {
  std::ptrdiff_t length = 0;
  const char* const kind = Py().AsUtf8(text, &length);
  return kind != nullptr && length == 1 ? *kind : 'e';
}

// mark(kind, a, b, c): writes a mark at the current position in the history.
PyObject* DoMark(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  std::array<int64_t, 3> numbers = {};
  if (count < 1 || count > 4) return Number(0);
  if (!Arguments(arguments + 1, count - 1, numbers)) return nullptr;
  State& s = The();
  const char kind = KindOf(arguments[0]);
  if (kind == 'B') s.backward_module = kNoneYet;
  if (kind == 'B' || kind == 'b') s.in_backward = kind == 'B';
  Mark(kind, {numbers.data(), static_cast<size_t>(count - 1)});
  return Number(0);
}

// mark_at(kind, device, requests, time): writes a mark at an earlier position.
PyObject* DoMarkAt(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  std::array<int64_t, 3> numbers = {};
  if (count != 4) return Number(0);
  if (!Arguments(arguments + 1, 3, numbers)) return nullptr;
  MarksFile::The().Put(KindOf(arguments[0]), static_cast<int>(numbers[0]),
                       static_cast<uint64_t>(numbers[1]), numbers[2], {});
  return Number(0);
}

// text(bytes): any other line.
PyObject* DoText(PyObject*, PyObject* bytes) {
  char* text = nullptr;
  std::ptrdiff_t length = 0;
  if (Py().AsBytes(bytes, &text, &length) != 0) return nullptr;
  MarksFile::The().PutText({text, static_cast<size_t>(length)});
  return Number(0);
}

// requests(): returns the number of allocations and frees of all devices up to the last mark.
PyObject* DoRequests(PyObject*, PyObject*) {
  const std::array<uint64_t, 256>& last = The().last;
  return Py().FromUnsignedLongLong(std::accumulate(last.begin(), last.end(), uint64_t{0}));
}

// enter(name): called when this thread enters a module. `name` is -1 for a module without marks.
PyObject* DoEnter(PyObject*, PyObject* name) {
  const int64_t number = Py().AsLongLong(name);
  if (number == -1 && Py().ErrorOccurred() != nullptr) return nullptr;
  Modules().push_back(number);
  if (number != kNoModule) Mark('M', {&number, 1});
  return Number(0);
}

// leave(): the module has returned.
PyObject* DoLeave(PyObject*, PyObject*) {
  std::vector<int64_t>& modules = Modules();
  if (modules.empty()) return Number(0);
  const bool marked = modules.back() != kNoModule;
  modules.pop_back();
  if (marked) Mark('m', {});
  return Number(0);
}

Saved* PartOf(PyObject* key) {
  return std::launder(reinterpret_cast<Saved*>(reinterpret_cast<char*>(key) + The().head));
}

// Returns PyTorch's count of the writes to a tensor's memory, or -1 if PyTorch does not count them.
int64_t VersionOf(PyObject* tensor) {
  const Ref number(Py().GetAttr(tensor, The().version));
  const int64_t version = number ? Py().AsLongLong(number.get()) : -1;
  if (Py().ErrorOccurred() != nullptr) Py().ErrorClear();
  return version;
}

// Returns whether the tensor is unchanged since it was saved. If there are hooks, PyTorch itself
// does not check this.
bool IsUnchanged(const Saved& saved) {
  const int64_t version = VersionOf(saved.tensor);
  if (version == saved.version) return true;
  const std::string message =
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: it is at version " +
      std::to_string(version) + "; expected version " + std::to_string(saved.version) +
      " instead. Hint: enable anomaly detection to find the operation that failed to compute its "
      "gradient, with torch.autograd.set_detect_anomaly(True).";
  Py().ErrorSet(*Py().runtime_error, message.c_str());
  return false;
}

// pack(tensor): called when autograd saves a tensor.
PyObject* DoPack(PyObject*, PyObject* tensor) {
  const PythonApi& py = Py();
  State& s = The();
  PyObject* const detached = py.CallMethodObjArgs(tensor, s.detach, nullptr);
  if (detached == nullptr) return nullptr;
  const bool on = MarksFile::The().on();
  const uint64_t address = on ? AddressOf(tensor) : 0;
  PyObject* const key = py.TypeAlloc(s.saved, 0);
  if (key == nullptr) {
    py.DecRef(detached);
    return nullptr;
  }
  const std::vector<int64_t>& modules = Modules();
  const int64_t number = ++s.numbers;
  new (reinterpret_cast<char*>(key) + s.head)
      Saved{.tensor = detached,
            .address = address,
            .number = number,
            .module = modules.empty() ? kNoModule : modules.back(),
            .version = VersionOf(detached)};
  if (address != 0) s.kept.push_back({address, number});
  return key;
}

// unpack(key): called when autograd needs the tensor. Returns a new tensor each time, because
// autograd attaches its graph node to the returned tensor. If the key owned that tensor, the key
// and the tensor would keep each other alive.
PyObject* DoUnpack(PyObject*, PyObject* key) {
  const PythonApi& py = Py();
  State& s = The();
  const Saved& saved = *PartOf(key);
  if (!IsUnchanged(saved)) return nullptr;
  if (s.in_backward && saved.module != s.backward_module && MarksFile::The().on()) {
    s.backward_module = saved.module;
    Mark('G', {&saved.module, 1});
  }
  return py.CallMethodObjArgs(saved.tensor, s.detach, nullptr);
}

void Dealloc(PyObject* key) {
  const PythonApi& py = Py();
  State& s = The();
  const Saved saved = *PartOf(key);
  if (saved.address != 0) {
    if (!s.kept.empty() && saved.number >= s.kept.front().number) {
      const auto told = std::lower_bound(
          s.kept.begin(), s.kept.end(), saved.number,
          [](const State::Told& one, int64_t number) { return one.number < number; });
      if (told != s.kept.end() && told->number == saved.number) told->address = 0;
    } else if (MarksFile::The().on()) {
      s.released.push_back(saved.number);
    }
  }
  const Ref type(py.TypeOf(key));
  py.Free(key);
  py.DecRef(type.get());  // the object's reference to its type
  py.DecRef(saved.tensor);
}

// tag(category, value): sets the category of the blocks of all tensors in `value`.
PyObject* DoTag(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  if (count != 2 || !MarksFile::The().on()) return Number(0);
  std::array<int64_t, 1> category = {};
  if (!Arguments(arguments, 1, category)) return nullptr;
  TagAll(category[0], arguments[1], Here());
  return Number(0);
}

// tag_gradients(list): tags the gradients of these tensors.
PyObject* DoTagGradients(PyObject*, PyObject* list) {
  if (!MarksFile::The().on()) return Number(0);
  const Place here = Here();
  for (std::ptrdiff_t i = 0; i < Py().ListSize(list); ++i)
    TagGradient(Py().ListItem(list, i), here);
  return Number(0);
}

// tag_module(module, gradients): tags all tensors of a module, or all its gradients.
PyObject* DoTagModule(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  if (count != 2 || !MarksFile::The().on()) return Number(0);
  std::unordered_set<PyObject*> seen;
  TagModule(arguments[0], Py().IsTrue(arguments[1]) > 0, Here(), seen);
  return Number(0);
}

template <typename Function>
void* Plain(Function* function) {
  return reinterpret_cast<void*>(function);
}

std::array<PyMethodDef, 12> g_methods = {{
    {"mark", Plain(&DoMark), kFastCall, nullptr},
    {"mark_at", Plain(&DoMarkAt), kFastCall, nullptr},
    {"text", Plain(&DoText), kOneArgument, nullptr},
    {"requests", Plain(&DoRequests), kNoArguments, nullptr},
    {"enter", Plain(&DoEnter), kOneArgument, nullptr},
    {"leave", Plain(&DoLeave), kNoArguments, nullptr},
    {"pack", Plain(&DoPack), kOneArgument, nullptr},
    {"unpack", Plain(&DoUnpack), kOneArgument, nullptr},
    {"tag", Plain(&DoTag), kFastCall, nullptr},
    {"tag_gradients", Plain(&DoTagGradients), kOneArgument, nullptr},
    {"tag_module", Plain(&DoTagModule), kFastCall, nullptr},
    {nullptr, nullptr, 0, nullptr},
}};

}  // namespace
}  // namespace vramscope::cupti

using namespace vramscope::cupti;  // NOLINT: C functions follow

// Returns the functions as an array of PyMethodDef; the last entry has no name.
VRAMSCOPE_EXPORTED const void* vramscope_marks_methods() { return g_methods.data(); }

// Call before any of the functions, with the interpreter's lock held. `tensor` and `parameter`:
// PyTorch's classes. `current_device`: PyTorch's function. `count`: the hooks' function that counts
// a device's allocations and frees, or null if the allocator counts them. `address`: the hooks'
// function that returns a tensor's address. `object_bytes`: the size of an `object`. Returns 1 on
// success.
VRAMSCOPE_EXPORTED int vramscope_marks_prepare(PyObject* tensor, PyObject* parameter,
                                               PyObject* current_device, PyObject* count,
                                               PyObject* address, int devices,
                                               size_t object_bytes) {
  const PythonApi& py = PythonApi::The();
  if (!py.complete) return 0;
  State& s = The();
  for (PyObject* const object : {tensor, parameter, current_device, count, address})
    if (object != nullptr) py.IncRef(object);  // kept until the process ends
  s.tensor = tensor;
  s.parameter = parameter;
  s.current_device = current_device;
  s.count = count;
  s.address = address;
  s.several_devices = devices > 1;
  if (s.saved != nullptr) return 1;
  s.head = object_bytes;
  struct Name {
    PyObject** name;
    const char* text;
  };
  for (const auto& [name, text] : std::to_array<Name>({{&s.is_cuda, "is_cuda"},
                                                       {&s.data_ptr, "data_ptr"},
                                                       {&s.detach, "detach"},
                                                       {&s.version, "_version"},
                                                       {&s.grad, "grad"},
                                                       {&s.grad_fn, "grad_fn"},
                                                       {&s.get_device, "get_device"},
                                                       {&s.parameters, "parameters"},
                                                       {&s.buffers, "buffers"},
                                                       {&s.own_parameters, "_parameters"},
                                                       {&s.own_buffers, "_buffers"},
                                                       {&s.own_modules, "_modules"}}))
    *name = py.InternFromString(text);
  static std::array<PyTypeSlot, 2> slots = {{{kSlotDealloc, Plain(&Dealloc)}, {0, nullptr}}};
  static PyTypeSpec spec = {.name = "vramscope.Saved",
                            .basic_bytes = static_cast<int>(object_bytes + sizeof(Saved)),
                            .item_bytes = 0,
                            .flags = 0,
                            .slots = slots.data()};
  s.saved = py.TypeFromSpec(&spec);
  return s.saved != nullptr ? 1 : 0;
}

// If `clock` is null, uses the clock of the allocator's entries. Returns 1 if the file was
// created.
VRAMSCOPE_EXPORTED int vramscope_marks_begin(const char* path, uint64_t (*clock)()) {
  return MarksFile::The().Begin(path, clock) ? 1 : 0;
}
// Returns 1 if the file had no space for a mark. No marks are written from then on.
VRAMSCOPE_EXPORTED int vramscope_marks_failed() { return MarksFile::The().failed() ? 1 : 0; }
VRAMSCOPE_EXPORTED void vramscope_marks_end() { MarksFile::The().End(); }
