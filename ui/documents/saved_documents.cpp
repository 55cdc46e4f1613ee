#include "ui/documents/saved_documents.h"

#include <absl/status/status.h>
#include <absl/strings/escaping.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "profiler/base/i18n.h"
#include "ui/panels/techniques.h"

namespace vramscope::ui {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr size_t kMostText = size_t{1} << 20;  // bytes per string
constexpr const char* kKinds[] = {"plan", "gpu-run", "file", "program"};
constexpr uint32_t kMostRanks = 256, kMostSteps = 100'000;
constexpr size_t kMostToggles = 100, kMostVariant = 200;

std::string ConfigText(const run::RunConfig& config) {
  return absl::Base64Escape(run::ToProtoBytes(config));
}

// Each of these functions returns the member `key` of `object`, or a default if the member is
// missing or has the wrong type.
std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  const auto& text = found->get_ref<const std::string&>();
  return text.size() > kMostText ? std::string() : text;
}

int64_t Whole(const Json& object, const char* key, int64_t otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  if (found->is_number_unsigned() &&
      found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return otherwise;
  return found->get<int64_t>();
}

uint64_t Unsigned(const Json& object, const char* key, uint64_t otherwise, uint64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return otherwise;
  return std::min(found->get<uint64_t>(), most);
}

bool Flag(const Json& object, const char* key, bool otherwise) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_boolean() ? otherwise : found->get<bool>();
}

double Number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

std::optional<run::RunConfig> Config(const Json& object) {
  std::string bytes;
  if (!absl::Base64Unescape(Text(object, "config"), &bytes)) return std::nullopt;
  absl::StatusOr<run::RunConfig> config = run::FromProtoBytes(bytes);
  if (!config.ok()) return std::nullopt;
  return *std::move(config);
}

Json PartJson(const importers::OpenOptions& part) {
  Json out{{"first_entry", part.first_entry},
           {"last_entry", part.last_entry},
           {"from_ns", part.from_ns},
           {"to_ns", part.to_ns}};
  if (part.device) out["device"] = *part.device;
  return out;
}

importers::OpenOptions PartOf(const Json& object) {
  importers::OpenOptions part;
  const importers::OpenOptions whole;
  part.first_entry = Unsigned(object, "first_entry", whole.first_entry, UINT64_MAX);
  part.last_entry = Unsigned(object, "last_entry", whole.last_entry, UINT64_MAX);
  part.from_ns = Whole(object, "from_ns", whole.from_ns);
  part.to_ns = Whole(object, "to_ns", whole.to_ns);
  if (object.contains("device"))
    part.device = static_cast<uint8_t>(Unsigned(object, "device", 0, UINT8_MAX));
  return part;
}

Json ProgramJson(const program::Request& request) {
  return {{"where", static_cast<unsigned>(request.where)},
          {"script", request.script},
          {"interpreter", request.interpreter},
          {"arguments", request.arguments},
          {"folder", request.folder},
          {"device", request.device},
          {"ranks", request.ranks},
          {"steps", request.steps},
          {"skip_init", request.skip_init},
          {"operators", request.operators},
          {"host", request.host},
          {"host_interpreter", request.host_interpreter},
          {"host_vramscope", request.host_vramscope},
          {"toggles", request.toggles}};
}

program::Request ProgramOf(const Json& object) {
  program::Request request;
  request.where = static_cast<program::Where>(Unsigned(object, "where", 0, 2));
  request.script = Text(object, "script");
  request.interpreter = Text(object, "interpreter");
  request.arguments = Text(object, "arguments");
  request.folder = Text(object, "folder");
  if (const std::string device = Text(object, "device"); run::FindDevice(device).ok())
    request.device = device;
  request.ranks =
      std::max(1u, static_cast<uint32_t>(Unsigned(object, "ranks", request.ranks, kMostRanks)));
  request.steps = static_cast<uint32_t>(Unsigned(object, "steps", request.steps, kMostSteps));
  request.skip_init = Flag(object, "skip_init", request.skip_init);
  request.operators = Flag(object, "operators", request.operators);
  request.host = Text(object, "host");
  request.host_interpreter = Text(object, "host_interpreter");
  request.host_vramscope = Text(object, "host_vramscope");
  if (const auto toggles = object.find("toggles"); toggles != object.end() && toggles->is_array())
    for (const Json& toggle : *toggles)
      if (toggle.is_string() && request.toggles.size() < kMostToggles)
        request.toggles.push_back(toggle.get<std::string>());
  return request;
}

Json EntryJson(const HistoryEntry& entry) {
  Json out{{"change", entry.change},
           {"config", ConfigText(entry.config)},
           {"file", entry.file},
           {"peak_allocated", entry.peak_allocated},
           {"step_ms", entry.step_ms},
           {"peak_reserved", entry.peak_reserved},
           {"when", entry.when_unix_s},
           {"notes", entry.notes},
           {"note_texts", entry.note_texts}};
  if (!entry.program.script.empty()) out["program"] = ProgramJson(entry.program);
  return out;
}

std::optional<HistoryEntry> EntryOf(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  std::optional<run::RunConfig> config = Config(object);
  if (!config) return std::nullopt;
  const auto program = object.find("program");
  return HistoryEntry{.change = Text(object, "change"),
                      .config = *std::move(config),
                      .program = program != object.end() && program->is_object()
                                     ? ProgramOf(*program)
                                     : program::Request(),
                      .file = Text(object, "file"),
                      .peak_allocated = Unsigned(object, "peak_allocated", 0, INT64_MAX),
                      .peak_reserved = Unsigned(object, "peak_reserved", 0, INT64_MAX),
                      .step_ms = Number(object, "step_ms"),
                      .notes = static_cast<uint32_t>(Unsigned(object, "notes", 0, kMostNotes)),
                      .when_unix_s = Whole(object, "when", 0),
                      .note_texts = NoteText(Text(object, "note_texts"))};
}

std::optional<SavedDocument> DocumentOf(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  const std::string kind = Text(object, "kind");
  const auto found = std::ranges::find(kKinds, kind);
  std::optional<run::RunConfig> config = Config(object);
  if (found == std::end(kKinds) || !config) return std::nullopt;
  SavedDocument out;
  out.config = *std::move(config);
  out.source.kind = static_cast<SourceKind>(found - std::begin(kKinds));
  out.source.file = Text(object, "file");
  if (out.source.kind == SourceKind::kFile && !out.source.file.starts_with('/'))
    return std::nullopt;
  out.source.stamp = Text(object, "stamp");
  if (const auto part = object.find("part"); part != object.end() && part->is_object())
    out.source.part = PartOf(*part);
  if (const auto program = object.find("program"); program != object.end() && program->is_object())
    out.source.program = ProgramOf(*program);
  out.source.variant = Text(object, "variant").substr(0, kMostVariant);
  if (out.source.kind == SourceKind::kProgram && out.source.program.script.empty())
    return std::nullopt;
  if (const auto view = object.find("view"); view != object.end() && view->is_object()) {
    out.view = {.begin_ns = Whole(*view, "begin_ns", 0),
                .end_ns = Whole(*view, "end_ns", 0),
                .cursor_ns = Whole(*view, "cursor_ns", -1),
                .range_begin_ns = Whole(*view, "range_begin_ns", 0),
                .range_end_ns = Whole(*view, "range_end_ns", 0)};
    if (const int64_t selection = Whole(*view, "selection", -1);
        selection >= 0 && selection < int64_t{UINT32_MAX})
      out.view.selection = {static_cast<uint32_t>(selection)};
  }
  if (const auto history = object.find("history"); history != object.end() && history->is_array()) {
    for (const Json& entry : *history) {
      if (out.history.size() == kMostSavedEntries) break;
      std::optional<HistoryEntry> read = EntryOf(entry);
      if (!read) return std::nullopt;  // skipping it would shift the indexes of later entries
      out.history.push_back(*std::move(read));
    }
  }
  const auto entry = [&](const char* key) {
    const size_t at = Unsigned(object, key, UINT64_MAX, UINT64_MAX);
    return at < out.history.size() ? at : History::kNone;
  };
  out.current = entry("current");
  out.baseline_entry = entry("baseline_entry");
  out.baseline_file = Text(object, "baseline");
  out.scratch = Text(object, "scratch");
  out.latest_file = Text(object, "latest_file");
  return out;
}

}  // namespace

SavedDocument Save(const Document& document) {
  SavedDocument out{.source = document.source,
                    .config = document.config,
                    .view = document.view,
                    .history = document.history.entries(),
                    .current = document.history.current(),
                    .baseline_file = document.session.baseline_file(),
                    .scratch = document.scratch,
                    .latest_file = document.latest_file()};
  out.source.part.progress = nullptr;
  out.source.part.preview = nullptr;
  out.source.part.cancel = nullptr;
  const size_t gone = out.history.size() - std::min(out.history.size(), kMostSavedEntries);
  out.history.erase(out.history.begin(), out.history.begin() + static_cast<ptrdiff_t>(gone));
  if (out.current != History::kNone) out.current = out.current >= gone ? out.current - gone : 0;
  // If the baseline is an earlier result of the same plan, save the index of its history entry.
  if (const Session::DigestPtr& baseline = document.session.baseline();
      baseline != nullptr && out.baseline_file.empty() && baseline->trace->info.has_config) {
    const std::string key = PlanKey(baseline->trace->info.config);
    for (size_t i = out.history.size(); i-- > 0 && out.baseline_entry == History::kNone;)
      if (PlanKey(out.history[i].config) == key) out.baseline_entry = i;
  }
  if (document.baseline_to_read) out.baseline_file = *document.baseline_to_read;
  return out;
}

void Restore(const SavedDocument& saved, Document* into) {
  into->config = saved.config;
  into->view = saved.view;
  for (const HistoryEntry& entry : saved.history) into->history.Append(entry);
  if (saved.current != History::kNone) into->history.GoTo(saved.current);
  into->session.SetPrevious(nullptr);
  into->session.SetBaseline(nullptr, {});
  if (!saved.baseline_file.empty()) into->baseline_to_read = saved.baseline_file;
  into->opener = 0;
  into->WasReleased();
  into->SetLatestFile(saved.latest_file);
  if (!saved.latest_file.empty()) into->Expect(std::string());  // the result becomes a new entry
  if (into->history.entries().empty()) into->Left();            // no result has arrived: compute it
}

std::string ToJson(const SavedSession& session) {
  Json documents = Json::array();
  for (const SavedDocument& document : session.documents) {
    const DocumentView& view = document.view;
    Json out{{"kind", kKinds[static_cast<size_t>(document.source.kind)]},
             {"config", ConfigText(document.config)},
             {"view",
              {{"begin_ns", view.begin_ns},
               {"end_ns", view.end_ns},
               {"cursor_ns", view.cursor_ns},
               {"range_begin_ns", view.range_begin_ns},
               {"range_end_ns", view.range_end_ns}}}};
    if (view.selection.valid()) out["view"]["selection"] = view.selection.value;
    if (document.source.kind == SourceKind::kFile) {
      out["file"] = document.source.file;
      out["stamp"] = document.source.stamp;
      out["part"] = PartJson(document.source.part);
    }
    if (document.source.kind == SourceKind::kProgram) {
      out["program"] = ProgramJson(document.source.program);
      if (!document.source.variant.empty()) out["variant"] = document.source.variant;
    }
    out["history"] = Json::array();
    for (const HistoryEntry& entry : document.history) out["history"].push_back(EntryJson(entry));
    if (document.current != History::kNone) out["current"] = document.current;
    if (document.baseline_entry != History::kNone) out["baseline_entry"] = document.baseline_entry;
    if (!document.baseline_file.empty()) out["baseline"] = document.baseline_file;
    if (!document.scratch.empty()) out["scratch"] = document.scratch;
    if (!document.latest_file.empty()) out["latest_file"] = document.latest_file;
    documents.push_back(std::move(out));
  }
  // Names of files and programs may be invalid UTF-8. Their invalid bytes are replaced.
  return Json{{"vramscope_session", kVersion},
              {"closed", session.closed},
              {"active", session.active},
              {"documents", std::move(documents)}}
      .dump(1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<SavedSession> SavedSessionFromJson(std::string_view json) {
  if (json.size() > kMostSavedBytes)
    return absl::InvalidArgumentError(i18n::Text("the saved session is too large"));
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || Whole(root, "vramscope_session", 0) != kVersion)
    return absl::InvalidArgumentError(
        i18n::Text("the saved session is damaged, or was written by another version of vramscope"));
  SavedSession out;
  out.closed = Flag(root, "closed", false);
  const size_t active = Unsigned(root, "active", 0, UINT64_MAX);
  const auto documents = root.find("documents");
  if (documents == root.end() || !documents->is_array()) return out;
  for (size_t i = 0; i < documents->size() && out.documents.size() < kMostSavedDocuments; ++i) {
    if (i == active) out.active = out.documents.size();
    if (std::optional<SavedDocument> document = DocumentOf((*documents)[i]))
      out.documents.push_back(*std::move(document));
  }
  if (out.active >= out.documents.size()) out.active = 0;
  return out;
}

}  // namespace vramscope::ui
