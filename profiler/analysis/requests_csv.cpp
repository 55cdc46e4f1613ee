#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/analysis/requests.h"
#include "profiler/analysis/timeline.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"

namespace vramscope::analysis {
namespace {

using trace::EventKind;

std::string Quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// Reads rows as in RFC 4180, with LF or CRLF. A field is a view of the text. A quoted field that
// had to be unescaped is a view of a copy in the reader.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {}

  // Reads the next row and skips empty lines. Returns false after the last row.
  absl::StatusOr<bool> Next(std::vector<std::string>& fields) {
    while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) {
      line_ += rest_.front() == '\n';
      rest_.remove_prefix(1);
    }
    fields.clear();
    if (rest_.empty()) return false;
    row_line_ = line_;
    while (true) {
      fields.emplace_back();
      if (absl::Status s = Field(fields.back()); !s.ok()) return s;
      if (rest_.empty()) return true;
      const char end = rest_.front();
      rest_.remove_prefix(1);
      if (end == ',') continue;
      if (end == '\r' && !rest_.empty() && rest_.front() == '\n') rest_.remove_prefix(1);
      ++line_;
      return true;
    }
  }
  size_t line() const { return row_line_; }  // line of the row that Next returned, from 1

 private:
  absl::Status Field(std::string& out) {
    if (rest_.empty() || rest_.front() != '"') {
      const size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
      out = rest_.substr(0, end);
      rest_.remove_prefix(end);
      return absl::OkStatus();
    }
    rest_.remove_prefix(1);
    while (true) {
      const size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) {
        return absl::InvalidArgumentError(i18n::Format(
            "CSV file of requests, line {}: a quoted field has no closing quote", row_line_));
      }
      out += rest_.substr(0, quote);
      for (char c : rest_.substr(0, quote)) line_ += c == '\n';
      rest_.remove_prefix(quote + 1);
      if (rest_.empty() || rest_.front() != '"') break;
      out += '"';
      rest_.remove_prefix(1);
    }
    if (!rest_.empty() && rest_.find_first_of(",\r\n") != 0) {
      return absl::InvalidArgumentError(i18n::Format(
          "CSV file of requests, line {}: there is text after a closing quote", row_line_));
    }
    return absl::OkStatus();
  }

  std::string_view rest_;
  size_t line_ = 1, row_line_ = 1;
};

// The number of each column, or -1 if it is missing.
struct Columns {
  int kind = -1, bytes = -1, rounded = -1, address = -1, index = -1, alloc_index = -1;
  int op = -1, module = -1;
};

absl::StatusOr<Columns> ColumnsOf(const std::vector<std::string>& header) {
  Columns c;
  bool own = false;
  for (size_t i = 0; i < header.size(); ++i) {
    const auto at = static_cast<int>(i);
    const std::string& name = header[i];
    if (name == "kind" && c.kind < 0) own = true;
    if (name == "action") c.kind = at;
    if (name == "bytes_requested" || name == "size") c.bytes = at;
    if (name == "bytes_rounded" || name == "rounded") c.rounded = at;
    if (name == "address" || name == "addr") c.address = at;
    if (name == "index") c.index = at;
    if (name == "alloc_index") c.alloc_index = at;
    if (name == "op") c.op = at;
    if (name == "module") c.module = at;
  }
  // In vramscope's own files, and only there, the action is in the column "kind".
  if (c.kind < 0 && own) {
    c.kind = static_cast<int>(std::find(header.begin(), header.end(), "kind") - header.begin());
  }
  const char* missing = c.kind < 0                           ? "kind (or action)"
                        : c.bytes < 0                        ? "bytes_requested (or size)"
                        : c.address < 0 && c.alloc_index < 0 ? "address (or addr)"
                        : c.alloc_index >= 0 && c.index < 0  ? "index"
                                                             : nullptr;
  if (missing != nullptr) {
    return absl::InvalidArgumentError(
        i18n::Format("CSV file of requests, line 1: the column {} is missing. Give the output of "
                     "`vramscope requests` or a CSV file with the columns action,size,addr",
                     missing));
  }
  return c;
}

template <class Int>
bool ParseInt(std::string_view text, Int& out) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsOtherKind(std::string_view kind) {
  for (std::string_view k : {"free_requested", "segment_alloc", "segment_free", "segment_map",
                             "segment_unmap", "snapshot", "oom", "out_of_memory", "annotate"}) {
    if (kind == k) return true;
  }
  return false;
}

}  // namespace

void WriteRequestsCsv(const trace::Trace& trace, std::ostream& out) {
  out << "index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module,"
         "op\n";
  const trace::EventTable& e = trace.events;
  const trace::AllocationTable& a = trace.allocations;
  const std::vector<Place> places = PlacesOf(trace);
  size_t place = 0;
  std::vector<trace::Category> now(a.size());
  a.birth_category.Read(0, now);
  fmt::memory_buffer row;
  for (uint32_t i = 0; i < e.size(); ++i) {
    const EventKind kind = e.kind[i];
    if (kind == EventKind::kRetag) now[e.id[i]] = e.category[i];
    if (kind != EventKind::kAlloc && kind != EventKind::kFreeRequested &&
        kind != EventKind::kFreeCompleted) {
      continue;
    }
    while (place + 1 < places.size() && places[place + 1].event <= i) ++place;
    const auto id = static_cast<uint32_t>(e.id[i]);
    row.clear();
    fmt::format_to(std::back_inserter(row), "{},{},{},{},{:#x},{},{},{},{},{},{}\n", i,
                   trace::Name(kind), a.bytes[id], a.bytes_rounded[id], a.address[id], a.stream[id],
                   e.time_ns[i], trace::Name(now[id]), trace::Name(places[place].phase),
                   Quoted(trace.String(a.module[id])), Quoted(trace.String(a.op[id])));
    out.write(row.data(), static_cast<std::streamsize>(row.size()));
  }
}

absl::StatusOr<RequestStream> ReadRequestsCsv(std::string_view csv) {
  if (csv.starts_with("\xef\xbb\xbf")) csv.remove_prefix(3);  // byte order mark
  CsvReader reader(csv);
  std::vector<std::string> fields;
  absl::StatusOr<bool> more = reader.Next(fields);
  if (!more.ok()) return more.status();
  absl::StatusOr<Columns> columns = ColumnsOf(fields);
  if (!columns.ok()) return columns.status();
  const Columns c = *columns;

  RequestStream out;
  base::HashMap<uint64_t, int64_t> by_address;    // address -> live allocation
  base::HashMap<int64_t, size_t> request_by_row;  // `index` -> request
  base::HashMap<int64_t, uint64_t> live_bytes;    // allocation -> bytes
  int64_t allocations = 0;
  while (true) {
    more = reader.Next(fields);
    if (!more.ok()) return more.status();
    if (!*more) return out;
    const auto error = [&](std::string_view what, int column) {
      return absl::InvalidArgumentError(i18n::Format("CSV file of requests, line {}, column {}: {}",
                                                     reader.line(), column + 1, what));
    };
    const auto field = [&fields](int column) -> std::string_view {
      return column >= 0 && static_cast<size_t>(column) < fields.size()
                 ? std::string_view(fields[static_cast<size_t>(column)])
                 : std::string_view();
    };
    const std::string_view kind = field(c.kind);
    if (IsOtherKind(kind)) continue;
    Request r;
    r.is_alloc = kind == "alloc";
    if (!r.is_alloc && kind != "free_completed" && kind != "free") {
      return error(i18n::Format("unknown kind \"{}\"", kind.substr(0, 40)), c.kind);
    }
    if (!ParseInt(field(c.bytes), r.bytes) || r.bytes > allocator::CachingAllocator::kMaxRequest) {
      return error(i18n::Text("not a number of bytes"), c.bytes);
    }
    if (c.rounded >= 0 && !field(c.rounded).empty() &&
        !ParseInt(field(c.rounded), r.bytes_rounded)) {
      return error(i18n::Text("not a number of bytes"), c.rounded);
    }
    r.where = PlaceOfRequest(field(c.op), field(c.module));
    uint64_t address = 0;
    int64_t index = 0, alloc_index = -1;
    if (c.alloc_index < 0 && !ParseInt(field(c.address), address)) {
      return error(i18n::Text("not an address"), c.address);
    }
    if (c.alloc_index >= 0) {
      if (!ParseInt(field(c.index), index)) return error(i18n::Text("not a row number"), c.index);
      if (!field(c.alloc_index).empty() && !ParseInt(field(c.alloc_index), alloc_index)) {
        return error(i18n::Text("not a row number"), c.alloc_index);
      }
    }
    if (r.is_alloc) {
      r.allocation = allocations++;
      bool fresh = true;
      if (c.alloc_index >= 0) {
        fresh = request_by_row.try_emplace(index, out.requests.size()).second;
      } else {
        fresh = by_address.try_emplace(address, r.allocation).second;
      }
      if (!fresh) {
        return c.alloc_index >= 0
                   ? error(i18n::Text("the row number is used twice"), c.index)
                   : error(i18n::Text("this address is already allocated"), c.address);
      }
      live_bytes[r.allocation] = r.bytes;
    } else {
      if (c.alloc_index >= 0 && alloc_index >= 0) {
        const auto it = request_by_row.find(alloc_index);
        if (it == request_by_row.end())
          return error(i18n::Text("no earlier allocation has this row number"), c.alloc_index);
        r.allocation = out.requests[it->second].allocation;
      } else if (c.alloc_index < 0) {
        if (const auto it = by_address.find(address); it != by_address.end()) {
          r.allocation = it->second;
          by_address.erase(it);
        }
      }
      if (r.allocation >= 0) {
        const auto it = live_bytes.find(r.allocation);
        if (it == live_bytes.end()) return error(i18n::Text("freed twice"), c.kind);
        if (it->second != r.bytes)
          return error(i18n::Text("this is not the size of the allocation"), c.bytes);
        live_bytes.erase(it);
      }
    }
    out.requests.push_back(std::move(r));
  }
}

}  // namespace vramscope::analysis
