#include "profiler/importers/kineto_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/importers/row_memory.h"

namespace vramscope::importers {
namespace {

using trace::ActivityKind;
using trace::Category;
using trace::MemorySpace;

constexpr int64_t kCpu = 0;  // c10::DeviceType
// Larger times and sizes are invalid. With these limits, the sum of two values fits into an int64.
constexpr int64_t kMostNs = INT64_MAX / 4;
constexpr int64_t kMostBytes = int64_t{1} << 56;

std::optional<int64_t> Within(std::optional<int64_t> value, int64_t most) {
  if (value && most < INT64_MAX && (*value > most || *value < -most)) return std::nullopt;
  return value;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  return lower;
}

// Returns the category with this name in vramscope's own export.
Category CategoryNamed(std::string_view name) {
  for (int c = 0; c < trace::kCategoryCount; ++c)
    if (trace::Name(static_cast<Category>(c)) == name) return static_cast<Category>(c);
  return Category::kUnknown;
}

// Returns the memory space with this name in vramscope's own export.
MemorySpace SpaceNamed(std::string_view name) {
  for (int s = 0; s < trace::kMemorySpaceCount; ++s)
    if (trace::Name(static_cast<MemorySpace>(s)) == name) return static_cast<MemorySpace>(s);
  return MemorySpace::kUnknown;
}

// Returns the bytes of one element of a collective's tensor.
uint64_t BytesOfElement(std::string_view dtype) {
  static constexpr std::pair<std::string_view, uint64_t> kSizes[] = {
      {"Float", 4}, {"Half", 2}, {"BFloat16", 2}, {"Double", 8}, {"Long", 8},
      {"Int", 4},   {"Char", 1}, {"Byte", 1},     {"Bool", 1},   {"Short", 2}};
  for (const auto& [name, bytes] : kSizes)
    if (name == dtype) return bytes;
  return 0;
}

std::optional<ActivityKind> WorkNamed(std::string_view category, std::string_view name) {
  if (category == "kernel")
    return trace::IsCollectiveName(name) ? ActivityKind::kCollective : ActivityKind::kKernel;
  static constexpr std::pair<std::string_view, ActivityKind> kCategories[] = {
      {"gpu_memcpy", ActivityKind::kMemcpy},
      {"memcpy", ActivityKind::kMemcpy},
      {"gpu_memset", ActivityKind::kMemset},
      {"memset", ActivityKind::kMemset},
      {"cuda_runtime", ActivityKind::kRuntimeCall},
      {"runtime", ActivityKind::kRuntimeCall},
      {"cuda_driver", ActivityKind::kDriverCall},
      {"cuda_sync", ActivityKind::kSynchronization},
      {"overhead", ActivityKind::kOverhead},
      // These names occur only in vramscope's own export.
      {"driver_alloc", ActivityKind::kDriverAlloc},
      {"driver_free", ActivityKind::kDriverFree},
      {"range", ActivityKind::kRange},
      {"counter", ActivityKind::kCounter}};
  for (const auto& [of, kind] : kCategories)
    if (of == category) return kind;
  return std::nullopt;
}

uint8_t DeviceNumber(int64_t id) {
  return static_cast<uint8_t>(std::clamp<int64_t>(id, 0, UINT8_MAX));
}

}  // namespace

void KinetoEventReader::Raw::Clear() {
  for (std::string* text : {&name, &category, &phase, &pid, &tid, &flow_id, &module, &kind,
                            &recorded_category, &held_as, &op, &from, &to, &dtype})
    text->clear();
  for (std::optional<int64_t>* number :
       {&begin_ns, &duration_ns, &bytes, &address, &total_allocated, &total_reserved, &device_type,
        &device_id, &device, &stream, &external_id, &correlation, &elements})
    number->reset();
}

absl::Status KinetoEventReader::Broken() const {
  if (!json_.status().ok()) return json_.status();
  return absl::DataLossError(i18n::Format("byte {}: the file ends too early", json_.offset()));
}

absl::Status KinetoEventReader::Read() {
  const Token first = json_.Next();
  if (first == JsonTokens::kError) return json_.status();
  if (first != JsonTokens::kBeginObject && first != JsonTokens::kBeginArray)
    return absl::InvalidArgumentError(
        i18n::Text("JSON, but neither an object nor a list of events"));
  const bool whole = first == JsonTokens::kBeginArray ? Events() : Top();
  if (whole && saw_events_) return absl::OkStatus();
  if (whole)
    return absl::InvalidArgumentError(
        i18n::Text("JSON without \"traceEvents\" is not a Chrome trace"));
  return Broken();
}

// Parses the outermost object, which contains the list of events. Returns false if malformed.
bool KinetoEventReader::Top() {
  while (true) {
    const Token key = json_.Next();
    if (key == JsonTokens::kEndObject) return true;
    if (key != JsonTokens::kString) return false;
    key_ = json_.text();
    const Token value = json_.Next();
    if (key_ == "traceEvents" && value == JsonTokens::kBeginArray) {
      if (!Events()) return false;
      continue;
    }
    if (key_ == "deviceProperties" && value == JsonTokens::kBeginArray) {
      if (!DeviceProperties()) return false;
      continue;
    }
    if (key_ == "baseTimeNanoseconds")
      tables_.base_ns =
          std::max<int64_t>(0, Within(ParseInteger(json_.text()), 2 * kMostNs).value_or(0));
    if (key_ == "vramscope") tables_.ours = true;
    if (!json_.Skip(value)) return false;
  }
}

// Parses the computer's GPUs, in the order of their numbers.
bool KinetoEventReader::DeviceProperties() {
  constexpr size_t kMostGpus = 256;
  while (true) {
    const Token token = json_.Next();
    if (token == JsonTokens::kEndArray) return true;
    if (token != JsonTokens::kBeginObject) {
      if (!json_.Skip(token)) return false;
      continue;
    }
    gpu_ = {};
    gpu_id_ = static_cast<int64_t>(tables_.gpus.size());
    gpu_major_ = gpu_minor_ = 0;
    if (!Object(&KinetoEventReader::DeviceProperty)) return false;
    gpu_.compute_capability = static_cast<uint32_t>(10 * gpu_major_ + gpu_minor_);
    if (tables_.gpus.size() < kMostGpus) tables_.gpus.emplace_back(gpu_id_, gpu_);
  }
}

bool KinetoEventReader::DeviceProperty(Token token) {
  constexpr int64_t kMostMemoryOfGpu = int64_t{1} << 48;  // bytes
  const auto number = [this](int64_t most) {
    return std::clamp<int64_t>(ParseInteger(json_.text()).value_or(0), 0, most);
  };
  if (key_ == "name" && token == JsonTokens::kString)
    gpu_.name = json_.text().substr(0, 256);
  else if (key_ == "id")
    gpu_id_ = number(UINT8_MAX);
  else if (key_ == "totalGlobalMem")
    gpu_.memory_bytes = static_cast<uint64_t>(number(kMostMemoryOfGpu));
  else if (key_ == "computeMajor")
    gpu_major_ = number(99);
  else if (key_ == "computeMinor")
    gpu_minor_ = number(9);
  else if (key_ == "numSms")
    gpu_.sm_count = static_cast<uint32_t>(number(UINT16_MAX));
  return json_.Skip(token);
}

bool KinetoEventReader::Events() {
  saw_events_ = true;
  while (true) {
    const Token token = json_.Next();
    if (token == JsonTokens::kEndArray) return true;
    if (token != JsonTokens::kBeginObject) {
      if (!json_.Skip(token)) return false;
      continue;
    }
    event_.Clear();
    if (!Object(&KinetoEventReader::Field)) return false;
    ++tables_.events;
    Take();
    if (budget_.exhausted()) return false;
  }
}

// Calls `take` for each field of the current object.
bool KinetoEventReader::Object(bool (KinetoEventReader::*take)(Token)) {
  while (true) {
    const Token key = json_.Next();
    if (key == JsonTokens::kEndObject) return true;
    if (key != JsonTokens::kString) return false;
    key_ = json_.text();
    if (!(this->*take)(json_.Next())) return false;
  }
}

bool KinetoEventReader::Field(Token token) {
  if (key_ == "args" && token == JsonTokens::kBeginObject)
    return Object(&KinetoEventReader::Argument);
  static constexpr TextField kTexts[] = {
      {"name", &Raw::name}, {"cat", &Raw::category}, {"ph", &Raw::phase},
      {"pid", &Raw::pid},   {"tid", &Raw::tid},      {"id", &Raw::flow_id},
  };
  if (key_ == "ts")
    event_.begin_ns = Within(ParseThousandths(json_.text()), kMostNs);
  else if (key_ == "dur")
    event_.duration_ns = Within(ParseThousandths(json_.text()), kMostNs);
  else
    Take(kTexts);
  return json_.Skip(token);
}

bool KinetoEventReader::Argument(Token token) {
  struct NumberField {
    std::string_view key;
    std::optional<int64_t> Raw::*to;
    int64_t most = INT64_MAX;
  };
  static constexpr NumberField kNumbers[] = {
      {"Bytes", &Raw::bytes, kMostBytes},
      {"bytes", &Raw::bytes, kMostBytes},
      {"Addr", &Raw::address},
      {"Total Allocated", &Raw::total_allocated, kMostBytes},
      {"Total Reserved", &Raw::total_reserved, kMostBytes},
      {"Device Type", &Raw::device_type},
      {"Device Id", &Raw::device_id},
      {"device", &Raw::device},
      {"stream", &Raw::stream},
      {"External id", &Raw::external_id},
      {"external id", &Raw::external_id},
      {"correlation", &Raw::correlation},
      {"In msg nelems", &Raw::elements, kMostBytes / 8},
  };
  static constexpr TextField kTexts[] = {
      {"Module", &Raw::module},   {"Kind", &Raw::kind},   {"Category", &Raw::recorded_category},
      {"Held as", &Raw::held_as}, {"Op", &Raw::op},       {"from", &Raw::from},
      {"to", &Raw::to},           {"dtype", &Raw::dtype},
  };
  const auto* number = std::ranges::find(kNumbers, key_, &NumberField::key);
  if (number != std::end(kNumbers))
    event_.*number->to = Within(ParseInteger(json_.text()), number->most);
  else
    Take(kTexts);
  return json_.Skip(token);
}

void KinetoEventReader::Take(std::span<const TextField> fields) {
  const auto field = std::ranges::find(fields, key_, &TextField::key);
  if (field != fields.end()) event_.*field->to = json_.text();
}

trace::StringId KinetoEventReader::Intern(std::string_view text) {
  if (text.empty()) return {};
  const auto [it, added] =
      interned_.try_emplace(std::string(text), static_cast<uint32_t>(tables_.strings.size()));
  if (added) tables_.strings.emplace_back(text);
  if (added) budget_.Charge(kMemoryOfString + kMemoryOfStringByte * text.size());
  return {it->second};
}

uint32_t KinetoEventReader::Thread() {
  const std::string name = event_.pid + '\n' + event_.tid;
  const auto [it, added] = threads_.try_emplace(name, static_cast<uint32_t>(threads_.size()));
  if (added) budget_.Charge(kMemoryOfString + kMemoryOfStringByte * name.size());
  return it->second;
}

void KinetoEventReader::Take() {
  if (event_.name == "[memory]" || event_.name == "[OutOfMemory]") return TakeMemory();
  if (event_.phase == "X" || (tables_.ours && event_.phase == "C" && !event_.category.empty()))
    return TakeComplete();
  if (event_.phase == "s" && event_.category == "ac2g") {
    const std::optional<int64_t> id = ParseInteger(event_.flow_id);
    if (id && event_.begin_ns) TakeLaunch({*event_.begin_ns, *id, Thread()});
  }
}

void KinetoEventReader::TakeLaunch(const KinetoTables::Launch& launch) {
  if (budget_.Charge(kMemoryOfLaunch)) tables_.launches.push_back(launch);
}

void KinetoEventReader::TakeMemory() {
  KinetoTables::Memory m{};
  m.out_of_memory = event_.name == "[OutOfMemory]";
  const bool sized = event_.begin_ns && event_.bytes;
  if (!sized || (!m.out_of_memory && *event_.bytes == 0)) {
    ++tables_.unusable;
    return;
  }
  m.time_ns = *event_.begin_ns;
  m.bytes = *event_.bytes;
  m.address = static_cast<uint64_t>(event_.address.value_or(0));
  m.without_address = !m.out_of_memory && !event_.address;
  m.total_allocated = event_.total_allocated.value_or(-1);
  m.total_reserved = event_.total_reserved.value_or(-1);
  m.thread = Thread();
  m.cpu = event_.device_type.value_or(kCpu) == kCpu;
  m.device = DeviceNumber(event_.device_id.value_or(0));
  m.recorded_category =
      CategoryNamed(event_.held_as.empty() ? event_.recorded_category : event_.held_as);
  // Two entries are charged, because a change of `Total Reserved` may need a second one.
  if (budget_.Charge(2 * kMemoryOfEntry + kMemoryOfAlloc)) tables_.memory.push_back(m);
}

void KinetoEventReader::TakeComplete() {
  const std::string category = Lower(event_.category);
  const std::optional<ActivityKind> work = WorkNamed(category, event_.name);
  const bool op = category == "cpu_op" || category == "operator";
  const bool annotation = category == "user_annotation";
  const bool python = category == "python_function";
  if (!op && !work && !annotation && !python) return;
  const int64_t duration = std::max<int64_t>(0, event_.duration_ns.value_or(0));
  if (!event_.begin_ns) {
    ++tables_.unusable;
    return;
  }
  const int64_t begin = *event_.begin_ns, end = begin + duration;
  if (work) return TakeWork(*work, begin, end);
  const uint32_t thread = Thread();
  if (annotation && event_.kind != "module") {
    if (!budget_.Charge(kMemoryOfAnnotation)) return;
    tables_.annotations.push_back({begin, end, Intern(event_.name)});
  } else {
    const auto what = python       ? KinetoTables::Span::kPython
                      : annotation ? KinetoTables::Span::kModule
                                   : KinetoTables::Span::kOp;
    if (!budget_.Charge(python ? kMemoryOfPythonSpan : kMemoryOfSpan)) return;
    tables_.spans.push_back({begin, end, Intern(event_.name), Intern(event_.module), thread, what});
    if (op && event_.external_id)
      tables_.op_of_external_id[*event_.external_id] = {tables_.spans.back().name,
                                                        tables_.spans.back().module};
  }
}

void KinetoEventReader::TakeWork(ActivityKind kind, int64_t begin_ns, int64_t end_ns) {
  if (!budget_.Charge(kMemoryOfWork)) return;
  trace::Activity a;
  a.kind = kind;
  a.name = Intern(event_.name);
  a.begin_ns = begin_ns;
  a.end_ns = end_ns;
  a.bytes = static_cast<uint64_t>(std::max<int64_t>(0, event_.bytes.value_or(0)));
  a.address = static_cast<uint64_t>(event_.address.value_or(0));
  a.correlation = static_cast<uint64_t>(std::max<int64_t>(0, event_.correlation.value_or(0)));
  const int64_t stream = event_.stream ? *event_.stream : ParseInteger(event_.tid).value_or(0);
  // Kineto records a synchronization as an event of the device; stream -1 stands for all streams.
  const bool sync = kind == ActivityKind::kSynchronization;
  if (sync || (trace::IsOfDevice(kind) && kind != ActivityKind::kCounter))
    a.stream = sync && stream < 0
                   ? trace::kAllStreams
                   : static_cast<uint32_t>(std::clamp<int64_t>(stream, 0, UINT32_MAX));
  if (trace::HasDevice(kind))
    a.device = DeviceNumber(event_.device ? *event_.device : ParseInteger(event_.pid).value_or(0));
  if (!trace::HasDevice(kind) && (!sync || tables_.ours)) a.thread = Thread();
  const trace::MemorySpaces spaces = trace::SpacesOfName(event_.name);
  if (kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemset) {
    a.from = event_.from.empty() ? spaces.from : SpaceNamed(event_.from);
    a.to = event_.to.empty() ? spaces.to : SpaceNamed(event_.to);
  } else if (kind == ActivityKind::kDriverAlloc || kind == ActivityKind::kDriverFree) {
    a.to = SpaceNamed(event_.to);
  } else if (kind == ActivityKind::kCollective && a.bytes == 0) {
    a.bytes = static_cast<uint64_t>(std::max<int64_t>(0, event_.elements.value_or(0))) *
              BytesOfElement(event_.dtype);
  }
  a.op = Intern(event_.op);  // only vramscope's own export has an op
  a.module = Intern(event_.module);
  tables_.work.push_back({a, event_.external_id.value_or(0)});
  const bool call = kind == ActivityKind::kRuntimeCall || kind == ActivityKind::kDriverCall;
  if (call && event_.correlation) TakeLaunch({begin_ns, *event_.correlation, a.thread});
}

}  // namespace vramscope::importers
