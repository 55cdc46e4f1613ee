#include "profiler/run/device_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"
#include "profiler/run/compute_capability.h"
#include "profiler/run/messages.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

constexpr size_t kMaxText = 4096;
constexpr size_t kMaxName = 120;
constexpr uint64_t kLeastMemory = uint64_t{256} << 20, kMostMemory = uint64_t{1} << 42;
constexpr std::string_view kLike = "like";

absl::Status Bad(std::string text) {
  return absl::InvalidArgumentError(i18n::Format("device: {}", text));
}

struct Unit {
  std::string_view name;
  double factor;
};

// Reads a number with one of the units. If one of them is "", the number may be without a unit.
std::optional<double> NumberWithUnit(std::string_view text, std::span<const Unit> units) {
  const size_t digits = text.find_first_not_of("0123456789.+-eE");
  size_t end = std::min(digits, text.size());
  // "1e9" ends with an exponent. In "4.8E", the E belongs to the unit.
  while (end > 0 && std::isdigit(static_cast<unsigned char>(text[end - 1])) == 0) --end;
  const absl::StatusOr<double> number = ParseNumber(text.substr(0, end));
  if (!number.ok()) return std::nullopt;
  std::string written(base::Trimmed(text.substr(end)));
  std::ranges::transform(written, written.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Unit& unit : units) {
    if (unit.name == written) return *number * unit.factor;
  }
  return std::nullopt;
}

std::optional<double> Between(std::optional<double> value, double low, double high) {
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

std::optional<uint64_t> BytesBetween(std::string_view text, uint64_t low, uint64_t high) {
  const absl::StatusOr<uint64_t> bytes = ParseBytes(text);
  if (!bytes.ok() || *bytes < low || *bytes > high) return std::nullopt;
  return *bytes;
}

std::optional<uint32_t> WholeBetween(std::string_view text, int64_t low, int64_t high) {
  const absl::StatusOr<int64_t> whole = ParseInteger(text);
  if (!whole.ok() || *whole < low || *whole > high) return std::nullopt;
  return static_cast<uint32_t>(*whole);
}

std::optional<double> Rate(std::string_view text) {
  static constexpr std::array kUnits = {
      Unit{"", 1},          Unit{"gflops", 1e9},   Unit{"tflops", 1e12}, Unit{"pflops", 1e15},
      Unit{"gflop/s", 1e9}, Unit{"tflop/s", 1e12}, Unit{"pflop/s", 1e15}};
  return Between(NumberWithUnit(text, kUnits), 1e9, 1e18);
}

std::optional<bool> Truth(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

template <class To, class From>
bool Store(To& to, const std::optional<From>& from) {
  if (from) to = static_cast<To>(*from);
  return from.has_value();
}

// Writes a size in the largest unit in which it is a whole number.
std::string Size(uint64_t bytes) {
  if (bytes > 0 && bytes % (1 << 30) == 0) return fmt::format("{}GiB", bytes >> 30);
  if (bytes > 0 && bytes % (1 << 20) == 0) return fmt::format("{}MiB", bytes >> 20);
  return fmt::format("{}", bytes);
}
std::string Whole(double value, double unit, std::string_view name) {
  const double units = std::round(value / unit);
  return units * unit == value ? fmt::format("{}{}", units, name) : fmt::format("{}", value);
}

// One figure: its name, allowed values and field. The normalised text has the same order.
struct Figure {
  std::string_view name;
  std::string_view expected;
  bool (*read)(std::string_view, Device&);
  std::string (*text)(const Device&);
};

constexpr std::array kPeers = {std::pair{std::string_view("none"), Peers::kNone},
                               std::pair{std::string_view("pcie"), Peers::kPcie},
                               std::pair{std::string_view("nvlink"), Peers::kNvlink}};

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName &&
         text.find_first_of(",;") == std::string_view::npos && ValidUtf8(text) == text &&
         std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

const std::array kFigures = {
    Figure{"name", TEXT_MARK("expected up to 120 characters, without commas and semicolons"),
           [](std::string_view t, Device& d) {
             t = base::Trimmed(t);
             if (IsName(t)) d.name = t;
             return IsName(t);
           },
           [](const Device& d) { return d.name; }},
    Figure{"memory", TEXT_MARK("expected a size from 256 MiB to 4 TiB, such as 24GiB"),
           [](std::string_view t, Device& d) {
             return Store(d.memory_bytes, BytesBetween(t, kLeastMemory, kMostMemory));
           },
           [](const Device& d) { return Size(d.memory_bytes); }},
    Figure{"context",
           TEXT_MARK("expected a size up to 64 GiB and below the GPU's memory, such as 300MiB"),
           [](std::string_view t, Device& d) {
             return Store(d.context_bytes, BytesBetween(t, 0, uint64_t{64} << 30));
           },
           [](const Device& d) { return Size(d.context_bytes); }},
    Figure{"compute_capability",
           TEXT_MARK("expected a CUDA compute capability: 5.0, 5.2, 5.3, 6.0, 6.1, 6.2, 7.0, 7.2, "
                     "7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1"),
           [](std::string_view t, Device& d) {
             const uint32_t number = ParseComputeCapability(t);
             if (number != 0) d.compute_capability = number;
             return number != 0;
           },
           [](const Device& d) { return ComputeCapabilityText(d.compute_capability); }},
    Figure{
        "multiprocessors", TEXT_MARK("expected a whole number from 1 to 1024"),
        [](std::string_view t, Device& d) { return Store(d.sm_count, WholeBetween(t, 1, 1024)); },
        [](const Device& d) { return fmt::format("{}", d.sm_count); }},
    Figure{"l2", TEXT_MARK("expected a size from 16 KiB to 1 GiB, such as 6MiB"),
           [](std::string_view t, Device& d) {
             return Store(d.l2_bytes, BytesBetween(t, 16 << 10, 1 << 30));
           },
           [](const Device& d) { return Size(d.l2_bytes); }},
    Figure{"clock", TEXT_MARK("expected the boost clock from 100 MHz to 10 GHz, such as 1590MHz"),
           [](std::string_view t, Device& d) {
             static constexpr std::array kUnits = {Unit{"", 1}, Unit{"mhz", 1}, Unit{"ghz", 1000}};
             return Store(d.boost_mhz, Between(NumberWithUnit(t, kUnits), 100, 10000));
           },
           [](const Device& d) { return fmt::format("{}", d.boost_mhz); }},
    Figure{
        "memory_bus", TEXT_MARK("expected the width in bits, a whole number from 16 to 65536"),
        [](std::string_view t, Device& d) { return Store(d.bus_bits, WholeBetween(t, 16, 65536)); },
        [](const Device& d) { return fmt::format("{}", d.bus_bits); }},
    Figure{
        "bandwidth",
        TEXT_MARK("expected bytes per second from 1 GB/s to 100 TB/s, such as 448GB/s"),
        [](std::string_view t, Device& d) {
          static constexpr std::array kUnits = {Unit{"", 1}, Unit{"gb/s", 1e9}, Unit{"tb/s", 1e12}};
          return Store(d.bandwidth_bytes_per_s, Between(NumberWithUnit(t, kUnits), 1e9, 1e14));
        },
        [](const Device& d) { return Whole(d.bandwidth_bytes_per_s, 1e9, "GB/s"); }},
    Figure{"fp32",
           TEXT_MARK("expected a dense rate from 1 GFLOPS to 1000 PFLOPS, such as 9.1TFLOPS"),
           [](std::string_view t, Device& d) { return Store(d.fp32_flops, Rate(t)); },
           [](const Device& d) { return Whole(d.fp32_flops, 1e12, "TFLOPS"); }},
    Figure{"tf32",
           TEXT_MARK("expected a dense rate from 1 GFLOPS to 1000 PFLOPS, such as 35TFLOPS"),
           [](std::string_view t, Device& d) { return Store(d.tf32_flops, Rate(t)); },
           [](const Device& d) { return Whole(d.tf32_flops, 1e12, "TFLOPS"); }},
    Figure{"bf16",
           TEXT_MARK("expected a dense rate from 1 GFLOPS to 1000 PFLOPS, such as 70TFLOPS"),
           [](std::string_view t, Device& d) { return Store(d.bf16_flops, Rate(t)); },
           [](const Device& d) { return Whole(d.bf16_flops, 1e12, "TFLOPS"); }},
    Figure{"peers", TEXT_MARK("expected none, pcie or nvlink"),
           [](std::string_view t, Device& d) {
             for (const auto& [name, peers] : kPeers) {
               if (name == t) d.peers = peers;
             }
             return std::ranges::any_of(kPeers, [&](const auto& each) { return each.first == t; });
           },
           [](const Device& d) {
             for (const auto& [name, peers] : kPeers) {
               if (peers == d.peers) return std::string(name);
             }
             return std::string();
           }},
    Figure{"integrated", TEXT_MARK("expected true (GPU and processor share memory) or false"),
           [](std::string_view t, Device& d) { return Store(d.integrated, Truth(t)); },
           [](const Device& d) { return std::string(d.integrated ? "true" : "false"); }},
    Figure{"ecc", TEXT_MARK("expected true or false"),
           [](std::string_view t, Device& d) { return Store(d.ecc, Truth(t)); },
           [](const Device& d) { return std::string(d.ecc ? "true" : "false"); }},
};

std::vector<std::string_view> FigureNames() {
  std::vector<std::string_view> names;
  for (const Figure& figure : kFigures) names.push_back(figure.name);
  return names;
}

const Figure* FindFigure(std::string_view name) {
  const auto found = std::ranges::find(kFigures, name, &Figure::name);
  return found == kFigures.end() ? nullptr : &*found;
}

absl::Status UnknownFigure(std::string_view name) {
  const std::vector<std::string_view> names = FigureNames();
  const std::string_view near = Nearest(name, names.data(), names.data() + names.size());
  return Bad(i18n::Format("unknown property {}{}. Allowed properties: like, {}", Quoted(name),
                          near.empty() ? "" : i18n::Format(" (did you mean \"{}\"?)", near),
                          fmt::join(names, ", ")));
}

// Shortens "NVIDIA GeForce RTX 4090" to "rtx-4090".
std::string Slug(std::string_view name) {
  std::string slug;
  for (const char c : name) {
    slug +=
        c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view maker : {"nvidia-", "geforce-"}) {
    if (slug.starts_with(maker)) slug.erase(0, maker.size());
  }
  return slug;
}

absl::Status UnknownName(std::string_view name) {
  if (name.ends_with(".json") || name.find('/') != std::string_view::npos) {
    return Bad(
        i18n::Format("{} is the name of a file. Give a file with --device, with --set device=..., "
                     "or in a run.json",
                     Quoted(name)));
  }
  std::vector<std::string_view> keys;
  for (const Device& device : DeviceTable()) keys.push_back(device.key);
  const std::string slug = Slug(name);
  const std::string_view near = Nearest(slug, keys.data(), keys.data() + keys.size());
  return Bad(i18n::Format(
      "the device table has no {}{}. Choose a name that `vramscope devices` lists, or give "
      "properties: memory=24GiB,compute_capability=8.6,multiprocessors=28",
      Quoted(name), near.empty() ? std::string() : i18n::Format(" (did you mean \"{}\"?)", near)));
}

// `whole` is in the table. The L2, bus width and bandwidth of a slice are in proportion to its
// memory (NVIDIA's MIG user guide). Its rates are in proportion to its multiprocessors.
Device SliceOf(const Device& whole, const MigSlice& slice) {
  Device d = whole;
  d.key = fmt::format("{}:{}", whole.key, slice.profile);
  d.name = fmt::format("{} MIG {}", whole.name.substr(0, whole.name.find(" (")), slice.profile);
  const double of_sms = static_cast<double>(slice.sm_count) / whole.sm_count;
  const double of_memory = std::min(
      1.0, static_cast<double>(slice.memory_bytes) / static_cast<double>(whole.memory_bytes));
  // Rounds to eighths of the memory: a slice has a number of eighths, less what the driver keeps.
  const double eighths = std::max(1.0, std::round(of_memory * 8)) / 8;
  d.sm_count = slice.sm_count;
  d.memory_bytes = slice.memory_bytes;
  d.l2_bytes = static_cast<uint64_t>(static_cast<double>(whole.l2_bytes) * eighths);
  d.bandwidth_bytes_per_s = whole.bandwidth_bytes_per_s * eighths;
  d.bus_bits = static_cast<uint32_t>(whole.bus_bits * eighths);
  d.fp32_flops *= of_sms;
  d.tf32_flops *= of_sms;
  d.bf16_flops *= of_sms;
  d.context_bytes = std::min(d.context_bytes, d.memory_bytes / 2);
  d.peers = Peers::kNone;
  d.sources.Take("mig", {"memory", "multiprocessors"});
  d.sources.Assume({"l2", "memory_bus", "bandwidth"},
                   TEXT_MARK("in proportion to its memory, according to NVIDIA's MIG user guide"));
  d.sources.Assume({"fp32", "tf32", "bf16"}, TEXT_MARK("in proportion to its multiprocessors"));
  d.sources.Assume({"context"}, TEXT_MARK("same as for the whole GPU"));
  d.sources.Give({"peers"}, TEXT_MARK("slices cannot access another GPU's memory"));
  d.source = fmt::format("a MIG slice of {}: {}", whole.name, d.sources.Text());
  return d;
}

// Reads a name, or a name with the profile of a slice.
absl::StatusOr<Device> Named(std::string_view text) {
  if (const Device* device = FindInTable(text)) return *device;
  const size_t colon = text.find(':');
  const Device* whole =
      colon == std::string_view::npos ? nullptr : FindInTable(text.substr(0, colon));
  if (whole == nullptr) return UnknownName(text);
  std::string_view profile = text.substr(colon + 1);
  // The suffix "+me" only adds media engines.
  if (profile.ends_with("+me")) profile.remove_suffix(3);
  std::vector<std::string_view> names;
  for (const MigSlice& slice : MigSlicesOf(whole->key)) {
    if (slice.profile == profile) return SliceOf(*whole, slice);
    names.push_back(slice.profile);
  }
  if (names.empty()) {
    std::vector<std::string_view> others;
    for (const Device& d : DeviceTable()) {
      if (!MigSlicesOf(d.key).empty()) others.push_back(d.key);
    }
    return Bad(
        i18n::Format("the device table has no MIG profiles for {}; GPUs with MIG profiles: {}",
                     whole->key, fmt::join(others, ", ")));
  }
  return Bad(i18n::Format("{} has no MIG profile {}; its profiles are: {}", whole->key,
                          Quoted(profile), fmt::join(names, ", ")));
}

// Returns the most similar GPU of the table: with the same compute capability, or else the same
// major number. If there are several, the number of multiprocessors decides.
const Device& MostAlike(const Device& d) {
  const auto rank = [&](const Device& other) {
    const int chip = other.compute_capability == d.compute_capability             ? 0
                     : other.compute_capability / 10 == d.compute_capability / 10 ? 1
                                                                                  : 2;
    const auto apart = [](uint32_t a, uint32_t b) { return a < b ? b - a : a - b; };
    return std::tuple(chip, chip == 2 ? apart(other.compute_capability, d.compute_capability) : 0,
                      apart(other.sm_count, d.sm_count), other.integrated != d.integrated);
  };
  return *std::ranges::min_element(DeviceTable(), {}, rank);
}

// Returns `names` without the name and ECC, which cannot have a source.
std::vector<std::string> FiguresAmong(const std::set<std::string_view>& names) {
  std::vector<std::string> figures;
  for (const std::string_view figure : DeviceFigures()) {
    if (names.contains(figure)) figures.emplace_back(figure);
  }
  return figures;
}

// Fills in all figures that are not among `given`.
void Fill(Device& d, const std::set<std::string_view>& given) {
  const Device& like = MostAlike(d);
  const ComputeCapability& chip = *FindComputeCapability(d.compute_capability);
  std::vector<std::string> assumed;
  const auto open = [&](std::string_view figure) {
    if (given.contains(figure)) return false;
    assumed.emplace_back(figure);
    return true;
  };
  const double part = static_cast<double>(d.sm_count) / like.sm_count;
  const double lanes = 2e6 * chip.cores_per_sm * d.sm_count;  // operations per second, from MHz
  if (!given.contains("name"))
    d.name =
        fmt::format("GPU of compute capability {}", ComputeCapabilityText(d.compute_capability));
  if (open("context")) d.context_bytes = std::min(like.context_bytes, d.memory_bytes / 2);
  if (open("l2")) {
    constexpr double kUnit = 256 << 10;
    d.l2_bytes = static_cast<uint64_t>(std::clamp(
        std::ceil(static_cast<double>(like.l2_bytes) * part / kUnit) * kUnit, kUnit, 0x1p30));
  }
  if (open("clock")) {
    d.boost_mhz =
        given.contains("fp32")
            ? static_cast<uint32_t>(std::clamp(std::round(d.fp32_flops / lanes), 100.0, 10000.0))
            : like.boost_mhz;
  }
  if (open("memory_bus")) d.bus_bits = like.bus_bits;
  if (open("bandwidth"))
    d.bandwidth_bytes_per_s = std::clamp(like.bandwidth_bytes_per_s * part, 1e9, 1e14);
  if (open("fp32")) d.fp32_flops = lanes * d.boost_mhz;
  if (open("tf32")) d.tf32_flops = d.fp32_flops * (like.tf32_flops / like.fp32_flops);
  if (open("bf16")) d.bf16_flops = d.fp32_flops * (like.bf16_flops / like.fp32_flops);
  if (open("peers")) d.peers = like.peers;
  d.sources.Give(FiguresAmong(given), TEXT_MARK("given"));
  d.sources.Assume(assumed, "like the " + like.name);
  d.source = d.sources.Text();
}

// `d` is `base` with changes to the figures `given`. Updates the figures that depend on these.
void Change(Device& d, const Device& base, const std::set<std::string_view>& given) {
  if (!given.contains("name")) {
    // Keeps the driver's name, which ends before " (". Adds the difference in brackets, for
    // display.
    const std::string_view plain = std::string_view(base.name).substr(0, base.name.find(" ("));
    d.name = fmt::format("{} ({})", plain,
                         given == std::set<std::string_view>{"memory"} ? FormatBytes(d.memory_bytes)
                                                                       : std::string("changed"));
  }
  const double cores = static_cast<double>(d.sm_count) / base.sm_count;
  const double faster = cores * d.boost_mhz / base.boost_mhz;
  if (faster != 1) {
    if (!given.contains("fp32")) d.fp32_flops *= faster;
    if (!given.contains("tf32")) d.tf32_flops *= faster;
    if (!given.contains("bf16")) d.bf16_flops *= faster;
    d.sources.Assume({"fp32", "tf32", "bf16"},
                     TEXT_MARK("in proportion to multiprocessors and clock"));
  }
  d.sources.Give(FiguresAmong(given), TEXT_MARK("given"));
  d.source = d.sources.Text();
}

}  // namespace

std::string SearchText(const Device& d) {
  std::string text =
      fmt::format("{} {} {} {} {}{}", d.key, d.name, d.line, ArchitectureName(d.compute_capability),
                  ComputeCapabilityText(d.compute_capability), d.integrated ? " jetson" : "");
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

const Device* FindInTable(std::string_view name) {
  const std::string slug(KeyOfAlias(Slug(name)));
  const Device* named = nullptr;
  for (const Device& device : DeviceTable()) {
    if (device.key == slug) return &device;
    if (named == nullptr && Slug(device.name) == slug) named = &device;
  }
  return named;
}

absl::StatusOr<Device> DeviceFromFigures(const Figures& figures) {
  Device d, base;
  const auto like = std::ranges::find(figures, kLike, &Figures::value_type::first);
  const bool based = like != figures.end();
  if (based) {
    absl::StatusOr<Device> found = Named(like->second);
    if (!found.ok()) return found;
    d = base = *std::move(found);
  }
  std::set<std::string_view> given;
  bool like_given = false;
  for (const auto& [name, text] : figures) {
    if (name == kLike ? like_given : given.contains(name))
      return Bad(i18n::Format("{} is set twice; keep one of them", name));
    if (name == kLike) {
      like_given = true;
      continue;
    }
    const Figure* figure = FindFigure(name);
    if (figure == nullptr) return UnknownFigure(name);
    if (!figure->read(text, d))
      return Bad(i18n::Format("{}: {} is not allowed; {}", name, Quoted(text),
                              i18n::Text(figure->expected)));
    given.insert(figure->name);
  }
  if (given.empty() && based) return base;
  for (const std::string_view needed : {"memory", "compute_capability", "multiprocessors"}) {
    if (!based && !given.contains(needed))
      return Bad(
          i18n::Format("{} is missing. Give memory, compute_capability and multiprocessors "
                       "(memory=24GiB,compute_capability=8.6,multiprocessors=28), or a GPU to "
                       "start from (rtx-4090,memory=12GiB)",
                       needed));
  }
  const ComputeCapability& chip = *FindComputeCapability(d.compute_capability);
  d.max_threads_per_sm = chip.max_threads_per_sm;
  d.blas_workspace_bytes = BlasWorkspaceBytes(d.compute_capability);
  d.line.clear();
  if (based) {
    Change(d, base, given);
  } else {
    Fill(d, given);
  }
  if (d.context_bytes >= d.memory_bytes) {
    return Bad(i18n::Format(
        "memory: {} cannot hold the CUDA context of {}; set more memory, or a smaller context=SIZE",
        FormatBytes(d.memory_bytes), FormatBytes(d.context_bytes)));
  }
  // Writes the normalised text: the given figures, in the order of kFigures.
  d.key = base.key;
  for (const Figure& figure : kFigures) {
    if (!given.contains(figure.name)) continue;
    d.key += fmt::format("{}{}={}", d.key.empty() ? "" : ",", figure.name, figure.text(d));
  }
  return d;
}

absl::StatusOr<Device> DeviceFromText(std::string_view text) {
  if (text.size() > kMaxText)
    return Bad(
        i18n::Format("the device description has {} bytes, which is too long for a GPU name or a "
                     "NAME=VALUE list",
                     text.size()));
  if (text.find_first_of("=,") == std::string_view::npos) return Named(text);
  Figures figures;
  while (true) {
    const std::string_view part = base::Trimmed(text.substr(0, text.find(',')));
    const size_t equals = part.find('=');
    if (part.empty()) {
      return Bad(
          i18n::Text("there is nothing before or after a comma; write NAME=VALUE,NAME=VALUE"));
    } else if (equals != std::string_view::npos) {
      figures.emplace_back(base::Trimmed(part.substr(0, equals)),
                           base::Trimmed(part.substr(equals + 1)));
    } else if (figures.empty()) {
      figures.emplace_back(kLike, part);
    } else {
      return Bad(i18n::Format("{} is not of the form NAME=VALUE", Quoted(part)));
    }
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return DeviceFromFigures(figures);
}

absl::StatusOr<Figures> FiguresFromJson(std::string_view text) {
  using nlohmann::json;
  std::set<std::string> seen;
  std::string problem;
  // Stops at nested values, and at a repeated key: a map would keep only one of its values.
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > 1 || event == json::parse_event_t::array_start)
      problem = i18n::Text("expected one JSON object without nested lists or objects");
    if (event == json::parse_event_t::key && !seen.insert(value.get<std::string>()).second)
      problem = i18n::Format("{} is set twice; keep one of them", Quoted(value.get<std::string>()));
    return problem.empty();
  };
  json parsed;
  try {
    parsed = json::parse(text, watch);
  } catch (const json::exception& error) {
    return Bad(i18n::Format("not JSON: {}", Printable(WithoutTag(error.what()), 300)));
  }
  if (problem.empty() && !parsed.is_object())
    problem = i18n::Text(
        "expected one JSON object, such as {\"memory\": \"24GiB\", \"compute_capability\": 8.6, "
        "\"multiprocessors\": 28}");
  if (!problem.empty()) return Bad(problem);
  Figures figures;
  for (const auto& [name, value] : parsed.items()) {
    if (name == "source" && value.is_string())
      continue;  // the origin of the figures, for readers
                 // of the file
    if (value.is_string()) {
      figures.emplace_back(name, value.get<std::string>());
    } else if (value.is_number() || value.is_boolean()) {
      figures.emplace_back(name, value.dump());
    } else {
      return Bad(i18n::Format("{}: expected a number, a text, true or false", Quoted(name)));
    }
  }
  return figures;
}

}  // namespace vramscope::run
