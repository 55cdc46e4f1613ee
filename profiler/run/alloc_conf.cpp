#include "profiler/run/alloc_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMaxMiB = std::numeric_limits<uint64_t>::max() / kMiB;
constexpr size_t kMaxText = 4096;
constexpr int kTopInterval = AllocConf::kRoundupIntervals - 1;

struct Setting {
  std::string key;
  std::string value;  // for a list, the text between the brackets
  bool list = false;
};

absl::Status Bad(std::string_view key, std::string_view value, std::string_view expected) {
  return absl::InvalidArgumentError(
      i18n::Format("{}: \"{}\" is not allowed; {}", key, value, expected));
}

// Whitespace is ignored everywhere, as in PyTorch.
absl::StatusOr<std::string> Squeeze(std::string_view text) {
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(i18n::Format(
        "allocator settings have {} characters; at most {} are allowed", text.size(), kMaxText));
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == ' ' || (c >= '\t' && c <= '\r')) continue;
    if (c < ' ' || c > '~') {
      return absl::InvalidArgumentError(i18n::Format(
          "allocator settings: character {} is not printable ASCII; write key:value,key:value",
          i + 1));
    }
    out += text[i];
  }
  return out;
}

absl::StatusOr<std::vector<Setting>> Split(std::string_view text) {
  std::vector<Setting> out;
  while (!text.empty()) {
    const size_t stop = text.find_first_of(",:[]");
    if (stop == 0 || stop == std::string_view::npos || text[stop] != ':') {
      const size_t length = std::min(text.find(','), text.size());
      return absl::InvalidArgumentError(
          i18n::Format("allocator settings: \"{}\" has no value; write key:value,key:value",
                       text.substr(0, length)));
    }
    Setting s;
    s.key = std::string(text.substr(0, stop));
    text.remove_prefix(stop + 1);
    s.list = !text.empty() && text.front() == '[';
    size_t end = std::min(text.find_first_of(",:[]"), text.size());
    if (s.list) {
      const size_t close = text.find(']');
      if (close == std::string_view::npos) {
        return Bad(s.key, text, i18n::Text("the list has no closing bracket"));
      }
      s.value = std::string(text.substr(1, close - 1));
      end = close + 1;
    } else {
      s.value = std::string(text.substr(0, end));
    }
    text.remove_prefix(end);
    if (!text.empty() && text.front() != ',') {
      return Bad(s.key, s.value + std::string(text.substr(0, text.find(','))),
                 i18n::Text("expected a comma after the value"));
    }
    if (!text.empty()) text.remove_prefix(1);
    out.push_back(std::move(s));
  }
  return out;
}

std::optional<uint64_t> Whole(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads a whole number of MiB, at least `least`, as bytes.
absl::Status TakeMiB(const Setting& s, uint64_t least, uint64_t& bytes) {
  const std::optional<uint64_t> value = s.list ? std::nullopt : Whole(s.value);
  if (!value.has_value() || *value < least) {
    return Bad(s.key, s.value, i18n::Format("expected a whole number of MiB, at least {}", least));
  }
  bytes = std::min(*value, kMaxMiB) * kMiB;
  return absl::OkStatus();
}

// Reads a number above 0 and below 1. With `with_one`, 1 is allowed, too.
absl::Status TakeFraction(const Setting& s, bool with_one, double& out) {
  const absl::StatusOr<double> value = ParseNumber(s.value);
  if (!value.ok() || s.list || !(*value > 0) || !(with_one ? *value <= 1 : *value < 1)) {
    return Bad(s.key, s.value,
               with_one ? i18n::Text("expected a number above 0 and up to 1")
                        : i18n::Text("expected a number above 0 and below 1"));
  }
  out = *value;
  return absl::OkStatus();
}

absl::Status TakeBool(const Setting& s, bool& out) {
  if (s.list || (s.value != "True" && s.value != "False")) {
    return Bad(s.key, s.value, i18n::Text("expected True or False, with this capitalization"));
  }
  out = s.value == "True";
  return absl::OkStatus();
}

// Takes one number for all sizes, or a table. For example, in "256:1,512:2,>:8", the first row
// means 1 for sizes below 512 MiB (also for sizes below 256 MiB, as no row precedes it), the second
// row means 2 for sizes from 512 MiB to 1 GiB, and the last row means 8 for all greater sizes.
absl::Status TakeDivisions(const Setting& s, AllocConf& conf) {
  auto& table = conf.roundup_power2_divisions;
  constexpr uint64_t kMost = uint64_t{1} << 31;
  if (!s.list) {
    const std::optional<uint64_t> value = Whole(s.value);
    if (!value.has_value() || !std::has_single_bit(*value) || *value > kMost) {
      return Bad(
          s.key, s.value,
          i18n::Text("expected a power of two, or a table such as [256:1,512:2,1024:4,>:8]"));
    }
    table.fill(static_cast<uint32_t>(*value));
    return absl::OkStatus();
  }
  std::string_view rest = s.value;
  bool first = true;
  int last = -1;
  while (!rest.empty()) {
    const std::string_view row = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(row.size() + 1, rest.size()));
    const size_t colon = row.find(':');
    const std::string_view from = row.substr(0, colon);
    constexpr uint64_t kNone = ~uint64_t{0};
    const uint64_t value =
        colon == std::string_view::npos ? kNone : Whole(row.substr(colon + 1)).value_or(kNone);
    const uint64_t megabytes = Whole(from).value_or(0);
    const bool good_value = value == 0 || (std::has_single_bit(value) && value <= kMost);
    if ((from != ">" && !std::has_single_bit(megabytes)) || !good_value) {
      return Bad(
          s.key, row,
          i18n::Text(
              "expected MEGABYTES:DIVISIONS, both powers of two. DIVISIONS may also be 0 (off). "
              "MEGABYTES may also be \">\" (all sizes above that of the previous entry)"));
    }
    const auto divisions = static_cast<uint32_t>(value);
    if (from == ">") {
      // As in PyTorch, a ">" before all other rows does not change the lowest interval.
      std::fill(table.begin() + std::max(last, 0) + 1, table.end(), divisions);
      continue;
    }
    const int index = std::min(63 - std::countl_zero(megabytes), kTopInterval);
    if (std::exchange(first, false)) std::fill(table.begin(), table.begin() + index, divisions);
    table[index] = divisions;
    last = index;
  }
  return absl::OkStatus();
}

// Takes a key that PyTorch knows, but that does not affect the allocation of device
// memory.
absl::Status TakeIgnored(const Setting& s, AllocConf& conf) {
  bool unused = false;
  absl::Status status = absl::OkStatus();
  if (s.key == "backend") {
    if (s.value == "cudaMallocAsync") {
      return Bad(s.key, s.value,
                 i18n::Text("this backend uses the driver's memory pools, which vramscope does not "
                            "model; use native"));
    }
    if (s.value != "native")
      status = Bad(s.key, s.value, i18n::Text("choose from: native, cudaMallocAsync"));
  } else if (s.key == "pinned_num_register_threads") {
    const std::optional<uint64_t> value = Whole(s.value);
    if (!value.has_value() || !std::has_single_bit(*value) || *value > 128) {
      status = Bad(s.key, s.value, i18n::Text("expected a power of two up to 128"));
    }
  } else if (s.key == "pinned_reserve_segment_size_mb") {
    uint64_t bytes = 0;
    status = TakeMiB(s, 1, bytes);
  } else {
    status = TakeBool(s, unused);
  }
  if (status.ok()) conf.ignored.push_back(s.key);
  return status;
}

constexpr std::string_view kKeys[] = {
    "max_split_size_mb", "max_non_split_rounding_mb", "garbage_collection_threshold",
    "roundup_power2_divisions", "expandable_segments", "large_segment_size_mb",
    "per_process_memory_fraction",
    // The keys below have no effect.
    "backend", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc",
    "pinned_use_cuda_host_register", "pinned_use_hip_host_register", "pinned_num_register_threads",
    "pinned_reserve_segment_size_mb", "pinned_use_background_threads",
    "graph_capture_record_stream_reuse"};

absl::Status UnknownKey(std::string_view key) {
  const std::string_view near = Nearest(key, std::begin(kKeys), std::end(kKeys));
  return absl::InvalidArgumentError(
      i18n::Format("unknown allocator setting \"{}\"{}", key.substr(0, 200),
                   near.empty() ? std::string() : i18n::Format(" (did you mean \"{}\"?)", near)));
}

absl::Status Take(const Setting& s, AllocConf& conf) {
  const uint64_t segment_mib = conf.large_segment_size / kMiB;
  if (s.key == "max_split_size_mb") return TakeMiB(s, segment_mib, conf.max_split_size);
  if (s.key == "max_non_split_rounding_mb") {
    return TakeMiB(s, segment_mib, conf.max_non_split_rounding);
  }
  if (s.key == "garbage_collection_threshold") {
    return TakeFraction(s, false, conf.garbage_collection_threshold);
  }
  if (s.key == "per_process_memory_fraction") {
    return TakeFraction(s, true, conf.memory_fraction);
  }
  if (s.key == "roundup_power2_divisions") return TakeDivisions(s, conf);
  if (s.key == "expandable_segments") return TakeBool(s, conf.expandable_segments);
  if (s.key == "large_segment_size_mb") return absl::OkStatus();  // handled before all others
  if (std::find(std::begin(kKeys), std::end(kKeys), s.key) == std::end(kKeys)) {
    return UnknownKey(s.key);
  }
  return TakeIgnored(s, conf);
}

}  // namespace

absl::StatusOr<AllocConf> ParseAllocConf(std::string_view text) {
  const absl::StatusOr<std::string> squeezed = Squeeze(text);
  if (!squeezed.ok()) return squeezed.status();
  const absl::StatusOr<std::vector<Setting>> settings = Split(*squeezed);
  if (!settings.ok()) return settings.status();
  AllocConf conf;
  // large_segment_size_mb limits other keys, so it is read first, wherever it is in the text.
  for (const Setting& s : *settings) {
    if (s.key != "large_segment_size_mb") continue;
    if (absl::Status status = TakeMiB(s, 11, conf.large_segment_size); !status.ok()) return status;
  }
  conf.max_non_split_rounding = conf.large_segment_size;
  for (const Setting& s : *settings) {
    if (absl::Status status = Take(s, conf); !status.ok()) return status;
  }
  return conf;
}

std::string ToString(const AllocConf& conf) {
  std::string out;
  const auto add = [&out](std::string_view key, const std::string& value) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", key, value);
  };
  const auto mib = [](uint64_t bytes) { return fmt::format("{}", bytes / kMiB); };
  const AllocConf plain;
  if (conf.large_segment_size != plain.large_segment_size) {
    add("large_segment_size_mb", mib(conf.large_segment_size));
  }
  if (conf.max_split_size != AllocConf::kNoMaxSplit) {
    add("max_split_size_mb", mib(conf.max_split_size));
  }
  if (conf.max_non_split_rounding != conf.large_segment_size) {
    add("max_non_split_rounding_mb", mib(conf.max_non_split_rounding));
  }
  if (conf.garbage_collection_threshold != 0) {
    add("garbage_collection_threshold", fmt::format("{}", conf.garbage_collection_threshold));
  }
  if (conf.memory_fraction != 0) {
    add("per_process_memory_fraction", fmt::format("{}", conf.memory_fraction));
  }
  const auto& table = conf.roundup_power2_divisions;
  if (table != plain.roundup_power2_divisions) {
    // The first row applies to all smaller sizes, too. ">" applies to all sizes above the last row.
    const auto head = std::adjacent_find(table.begin(), table.end(), std::not_equal_to<>());
    if (head == table.end()) {
      add("roundup_power2_divisions", fmt::format("{}", table[0]));
    } else {
      const auto tail = std::adjacent_find(table.rbegin(), table.rend(), std::not_equal_to<>());
      std::string rows;
      for (auto row = head; row < tail.base(); ++row) {
        rows += fmt::format("{}:{},", uint64_t{1} << (row - table.begin()), *row);
      }
      add("roundup_power2_divisions", fmt::format("[{}>:{}]", rows, table.back()));
    }
  }
  if (conf.expandable_segments) add("expandable_segments", "True");
  return out;
}

}  // namespace vramscope::run
