// `devices [WORDS]`: lists the GPUs for which runs can be planned, and the figures of each GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "profiler/base/i18n.h"
#include "profiler/run/compute_capability.h"
#include "profiler/run/device.h"
#include "profiler/run/device_file.h"
#include "profiler/run/toggles.h"
#include "profiler/run/units.h"

namespace vramscope::cli::device_list_command {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string memory, compute_capability, family;
  bool json = false, file = false;
};

// A condition on a figure of a GPU, such as ">=16GiB". `sign` is the comparison; "" means ">=".
struct Bound {
  std::string sign;
  double value = 0;
  bool Holds(double figure) const {
    if (sign == ">") return figure > value;
    if (sign == "<") return figure < value;
    if (sign == "<=") return figure <= value;
    if (sign == "=") return figure == value;
    return figure >= value;
  }
};

// Stores the comparison sign at the begin of `text` in `bound`, or `otherwise` if there is no sign.
// Returns the text after the sign.
std::string TakeSign(std::string text, std::string_view otherwise, Bound& bound) {
  const size_t end = std::min(text.find_first_not_of("<>="), text.size());
  bound.sign = end == 0 ? std::string(otherwise) : text.substr(0, end);
  if (bound.sign == "==") bound.sign = "=";
  return text.substr(end);
}

bool IsSign(const std::string& sign) {
  return sign == ">=" || sign == "<=" || sign == ">" || sign == "<" || sign == "=";
}

absl::StatusOr<Bound> MemoryBound(const std::string& text) {
  Bound bound;
  const absl::StatusOr<uint64_t> bytes = run::ParseBytes(TakeSign(text, ">=", bound));
  if (!bytes.ok() || !IsSign(bound.sign)) {
    return absl::InvalidArgumentError(
        i18n::Format("--memory: \"{}\" is not valid; write a size such as 16GiB, optionally after "
                     ">=, <=, >, < or =, such as '>=16GiB'",
                     Printable(text)));
  }
  bound.value = static_cast<double>(*bytes);
  return bound;
}

absl::StatusOr<Bound> CapabilityBound(const std::string& text) {
  Bound bound;
  const uint32_t number = run::ParseComputeCapability(TakeSign(text, "=", bound));
  if (number == 0 || !IsSign(bound.sign)) {
    return absl::InvalidArgumentError(
        i18n::Format("--compute-capability: \"{}\" is not valid; write a CUDA compute capability "
                     "such as 8.6, optionally after >=, <=, >, < or =, such as '>=8.0'",
                     Printable(text)));
  }
  bound.value = number;
  return bound;
}

// Returns the architecture and the product line of the GPU for the table.
std::string FamilyText(const run::Device& d) {
  std::string text = fmt::format("{} {}{}", run::ArchitectureName(d.compute_capability), d.line,
                                 d.name.find("Laptop") != std::string::npos ? " laptop" : "");
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

absl::StatusOr<std::vector<run::Device>> Chosen(const Options& options) {
  std::optional<Bound> memory, capability;
  if (!options.memory.empty()) {
    const absl::StatusOr<Bound> bound = MemoryBound(options.memory);
    if (!bound.ok()) return bound.status();
    memory = *bound;
  }
  if (!options.compute_capability.empty()) {
    const absl::StatusOr<Bound> bound = CapabilityBound(options.compute_capability);
    if (!bound.ok()) return bound.status();
    capability = *bound;
  }
  const auto fits = [&](const run::Device& d) {
    return (!memory || memory->Holds(static_cast<double>(d.memory_bytes))) &&
           (!capability || capability->Holds(d.compute_capability)) &&
           (options.family.empty() || run::HasWords(FamilyText(d), {options.family}));
  };
  // A single word may name a GPU, a MIG slice or a device file, or may list the figures of a GPU.
  if (options.words.size() == 1) {
    const std::string& word = options.words.front();
    const absl::StatusOr<std::string> text = run::DeviceTextOf(word);
    if (!text.ok()) return text.status();
    const absl::StatusOr<run::Device> one = run::ReadDevice(*text);
    if (one.ok()) return std::vector{*one};
    if (word.find_first_of("=:") != std::string::npos) return one.status();
  }
  std::vector<run::Device> chosen;
  for (const run::Device& d : run::DeviceTable()) {
    if (fits(d) && run::HasWords(run::SearchText(d), options.words)) chosen.push_back(d);
  }
  if (chosen.empty()) {
    return absl::NotFoundError(
        i18n::Text("no GPU in the device table matches; --family takes an architecture (turing, "
                   "ampere, ada, hopper, blackwell, ...) or a product line (geforce, laptop, "
                   "workstation, datacenter, integrated)"));
  }
  return chosen;
}

std::string KernelsText(const run::Device& d) {
  if (run::RunsOnLibTorch(d.compute_capability)) return {};
  std::vector<std::string> has;
  for (const uint32_t number : run::LibTorchArchitectures())
    has.push_back(run::ComputeCapabilityText(number));
  return i18n::Format(
      "LibTorch 2.11 (CUDA 13.0) has no kernels for this GPU, only for {}. To plan a program on "
      "this GPU, use a version of PyTorch that has kernels for the GPU",
      fmt::join(has, ", "));
}

Json DeviceObject(const run::Device& d) {
  Json slices = Json::array(), sources = Json::array(), assumptions = Json::array();
  for (const run::MigSlice& slice : run::MigSlicesOf(d.key)) slices.push_back(slice.profile);
  for (const auto& [title, address, figures] : d.sources.read)
    sources.push_back({{"title", title}, {"address", address}, {"figures", figures}});
  for (const auto& [figures, how] : d.sources.assumptions)
    assumptions.push_back({{"figures", figures}, {"how", how}});
  return {{"key", d.key},
          {"name", d.name},
          {"family", d.line},
          {"architecture", std::string(run::ArchitectureName(d.compute_capability))},
          {"memory", d.memory_bytes},
          {"context", d.context_bytes},
          {"sm_count", d.sm_count},
          {"max_threads_per_sm", d.max_threads_per_sm},
          {"compute_capability", run::ComputeCapabilityText(d.compute_capability)},
          {"blas_workspace", d.blas_workspace_bytes},
          {"l2", d.l2_bytes},
          {"boost_mhz", d.boost_mhz},
          {"memory_bus_bits", d.bus_bits},
          {"bandwidth", d.bandwidth_bytes_per_s},
          {"fp32_flops", d.fp32_flops},
          {"tf32_flops", d.tf32_flops},
          {"bf16_flops", d.bf16_flops},
          {"integrated", d.integrated},
          {"mig_profiles", slices},
          {"libtorch_has_kernels", run::RunsOnLibTorch(d.compute_capability)},
          {"assumed", d.sources.Assumed()},
          {"sources", sources},
          {"assumptions", assumptions},
          {"source", d.source}};
}

std::string Tera(double flops) { return fmt::format("{:.1f}", flops / 1e12); }

std::string TableText(const std::vector<run::Device>& devices) {
  Table table({{i18n::Text("Key")},
               {i18n::Text("Name")},
               {i18n::Text("Memory"), Table::kRight},
               {i18n::Text("SMs"), Table::kRight},
               {i18n::Text("CC"), Table::kRight},
               {"GB/s", Table::kRight},
               {"fp32", Table::kRight},
               {"tf32", Table::kRight},
               {"bf16", Table::kRight},
               {i18n::Text("Assumed")}});
  for (const run::Device& d : devices) {
    table.Row({d.key, d.name, run::FormatBytes(d.memory_bytes), fmt::format("{}", d.sm_count),
               run::ComputeCapabilityText(d.compute_capability),
               fmt::format("{:.0f}", d.bandwidth_bytes_per_s / 1e9), Tera(d.fp32_flops),
               Tera(d.tf32_flops), Tera(d.bf16_flops),
               fmt::format("{}", fmt::join(d.sources.Assumed(), ", "))});
  }
  return table.Text() + i18n::Format(
                            "\n  {} of {} GPUs. Dense rates are in TFLOP/s. Memory is as reported "
                            "by CUDA (nvidia-smi shows a few percent more). The last column lists "
                            "the values that have no source for the GPU. `vramscope devices NAME` "
                            "shows the details of one GPU, and --json shows all sources.\n",
                            devices.size(), run::DeviceTable().size());
}

// All figures of one GPU.
std::string DetailText(const run::Device& d) {
  std::string text = fmt::format("{}\n  {}\n\n", d.name, d.key);
  const auto line = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<20}  {}\n", what, value);
  };
  line(i18n::Text("Architecture"),
       i18n::Format("{}, compute capability {}", run::ArchitectureName(d.compute_capability),
                    run::ComputeCapabilityText(d.compute_capability)));
  std::string memory = fmt::format("{} ({} B)", run::FormatBytes(d.memory_bytes), d.memory_bytes);
  if (d.integrated)
    memory = i18n::Format("{}, shared with the CPU; the system uses a part of this memory", memory);
  line(i18n::Text("Memory"), memory + (d.ecc ? ", ECC" : ""));
  line(i18n::Text("CUDA context"), run::FormatBytes(d.context_bytes));
  line(i18n::Text("Multiprocessors"),
       i18n::Format("{} x {} threads", d.sm_count, d.max_threads_per_sm));
  line(i18n::Text("L2 cache"), run::FormatBytes(d.l2_bytes));
  line(i18n::Text("Clock, memory bus"), i18n::Format("{} MHz, {} bits", d.boost_mhz, d.bus_bits));
  line(i18n::Text("Bandwidth"), fmt::format("{:.4g} GB/s", d.bandwidth_bytes_per_s / 1e9));
  line(i18n::Text("Dense rates"),
       fmt::format("fp32 {}, tf32 {}, bf16 {} TFLOP/s", Tera(d.fp32_flops), Tera(d.tf32_flops),
                   Tera(d.bf16_flops)));
  line(i18n::Text("cuBLAS workspace"), run::FormatBytes(d.blas_workspace_bytes));
  std::vector<std::string_view> slices;
  for (const run::MigSlice& slice : run::MigSlicesOf(d.key)) slices.push_back(slice.profile);
  line(i18n::Text("MIG profiles"), fmt::format("{}", fmt::join(slices, ", ")));
  line(i18n::Text("Kernels"), KernelsText(d));
  text += "\n";
  for (const auto& [title, address, figures] : d.sources.read)
    line(i18n::Text("Source"),
         fmt::format("{}: {}{}{}", fmt::join(figures, ", "), run::ShownSource(title),
                     address.empty() ? "" : "\n                        ", address));
  for (const auto& [figures, how] : d.sources.assumptions)
    line(i18n::Text("Assumed"),
         fmt::format("{}: {}", fmt::join(figures, ", "), run::ShownSource(how)));
  return text;
}

ExitCode Show(const Options& options) {
  const absl::StatusOr<std::vector<run::Device>> devices = Chosen(options);
  if (!devices.ok()) {
    NoteError(Printable(std::string(devices.status().message())));
    return kUsage;
  }
  if (options.file) {
    if (devices->size() == 1) return PrintText(run::DeviceJson(devices->front()));
    NoteError(i18n::Format(
        "--file prints the device file of one GPU, but {} GPUs match; name one of them",
        devices->size()));
    return kUsage;
  }
  if (options.json) {
    Json list = Json::array();
    for (const run::Device& d : *devices) list.push_back(DeviceObject(d));
    return PrintJson({{"devices", list}});
  }
  return PrintText(devices->size() == 1 ? DetailText(devices->front()) : TableText(*devices));
}

void DeclareDevices(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option(
      "words", options->words,
      "list only GPUs whose key, name, family or architecture contains all of these words. A value "
      "that `plan --device` accepts (a MIG slice, a file or properties) shows only that GPU");
  command
      ->add_option("--memory", options->memory,
                   "list only GPUs with this much memory, such as '>=16GiB'")
      ->type_name("SIZE");
  command
      ->add_option("--compute-capability", options->compute_capability,
                   "list only GPUs with this compute capability, such as 8.6 or '>=8.0'")
      ->type_name("CC");
  command
      ->add_option("--family", options->family,
                   "list only GPUs of this architecture (turing, ampere, ...) or product line "
                   "(geforce, laptop, workstation, datacenter, integrated)")
      ->type_name("WORD");
  command->add_flag("--file", options->file,
                    "print one GPU as a device file, which can be edited and passed to --device");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Show(*options); });
}

}  // namespace

CommandEntry DeclareCommand_devices() {
  return {.place = 200,
          .name = "devices",
          .help = "list the GPUs for which runs can be planned",
          .example = "devices --json",
          .declare = DeclareDevices};
}

}  // namespace vramscope::cli::device_list_command
