// `export FILE --to FORMAT -o OUT`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/output.h"
#include "profiler/base/i18n.h"
#include "profiler/exporters/exporter.h"
#include "profiler/program/verdict.h"

#ifdef VRAMSCOPE_WITH_WINDOW
#include "ui/shell/window_main.h"
#endif

namespace vramscope::cli::export_command {
namespace {

using exporters::ExporterEntry;
using exporters::ExportRequest;

struct Options {
  std::string file, format, output, title, baseline, size, theme = "light";
  double scale = 1;
  RangeOptions range;
  bool no_categories = false, no_annotations = false;

  // Returns whether the window's canvas draws the output. An SVG without a size is drawn by an
  // exporter, because it shows only the curve of memory, as in notebooks.
  bool drawn() const {
    return format == "png" || format == "pdf" || (format == "svg" && !size.empty());
  }
  bool made_otherwise() const { return !size.empty() || scale != 1 || theme != "light"; }
};

// The formats that profiler/exporters does not write. The window's canvas draws images, and the
// trace library writes `.trace`.
const ExporterEntry kImages = {.place = 60,
                               .name = TEXT_MARK("png or pdf"),
                               .help = TEXT_MARK("the timeline as the window draws it"),
                               .uses_title = true};
const ExporterEntry kTrace = {
    .place = 80,
    .name = "trace",
    .help = TEXT_MARK("a .trace file; with --time A:B or --device, a part of the trace")};

// All formats, in the order of the help.
std::vector<ExporterEntry> Formats() {
  std::vector<ExporterEntry> all = exporters::AllExporters();
  all.insert(all.end(), {kImages, kTrace});
  std::ranges::stable_sort(all, {}, &ExporterEntry::place);
  return all;
}

std::vector<std::string> NamesOf(const std::vector<ExporterEntry>& formats) {
  std::vector<std::string> names;
  for (const ExporterEntry& format : formats) {
    if (format.place == kImages.place)
      names.insert(names.end(), {"png", "pdf"});
    else
      names.emplace_back(format.name);
  }
  return names;
}

// Returns "chrome (Perfetto, HolisticTraceAnalysis), csv, ... or trace (...)".
std::string FormatsHelp(const std::vector<ExporterEntry>& formats) {
  std::string help;
  for (const ExporterEntry& format : formats) {
    if (!help.empty())
      help += format.place == formats.back().place ? i18n::Text(" or ") : i18n::Text(", ");
    help += i18n::Text(format.name);
    if (!format.help.empty()) help += i18n::Format(" ({})", i18n::Text(format.help));
  }
  return help;
}

ExporterEntry FormatOf(const Options& options) {
  if (options.drawn()) return kImages;
  const auto& all = exporters::AllExporters();
  const auto found = std::ranges::find(all, options.format, &ExporterEntry::name);
  return found == all.end() ? kTrace : *found;
}

// Returns the formats that use a given part of the request, for example "html, svg, png, pdf".
std::string NamesWith(bool ExporterEntry::*use) {
  std::vector<ExporterEntry> with = Formats();
  std::erase_if(with, [&](const ExporterEntry& format) { return !(format.*use); });
  return fmt::format("{}", fmt::join(NamesOf(with), ", "));
}

// Returns the program or model that ran or, if it is unknown, the file's name.
std::string TitleOf(const trace::Trace& trace, const std::string& file) {
  if (!trace.info.title.empty()) return program::ShortCommand(trace.info.title);
  if (!trace.info.model.name.empty()) return trace.info.model.name;
  return std::filesystem::path(DisplayName(file)).filename().string();
}

std::string TitleOf(const trace::Trace& trace, const Options& options) {
  return options.title.empty() ? TitleOf(trace, options.file) : options.title;
}

absl::Status AddBaseline(const Options& options, ExportRequest& request) {
  const auto baseline = OpenTrace(options.baseline);
  if (!baseline.ok()) return baseline.status();
  request.baseline = DeviceToShow(*baseline).trace;
  request.baseline_title = TitleOf(*request.baseline, options.baseline);
  // Two traces of the same model have equal titles, so the names of their files are added.
  if (request.baseline_title == request.title) {
    const auto with_file = [](std::string& title, const std::string& file) {
      title += fmt::format(" ({})", std::filesystem::path(DisplayName(file)).filename().string());
    };
    with_file(request.title, options.file);
    with_file(request.baseline_title, options.baseline);
  }
  request.command += " --baseline " + options.baseline;
  return absl::OkStatus();
}

// Draws with the window's canvas, which needs no display.
absl::Status WritePicture([[maybe_unused]] const std::shared_ptr<const trace::Trace>& whole,
                          [[maybe_unused]] const Options& options,
                          [[maybe_unused]] std::ostream& out) {
#ifdef VRAMSCOPE_WITH_WINDOW
  const ShownDevice shown = DeviceToShow(whole);
  const absl::StatusOr<std::string> bytes =
      ui::DrawTimeline(shown.trace, shown.of_several ? whole : nullptr,
                       {.format = options.format,
                        .size = options.size,
                        .theme = options.theme,
                        .scale = options.scale,
                        .title = TitleOf(*shown.trace, options)});
  if (!bytes.ok()) return bytes.status();
  out << *bytes;
  return absl::OkStatus();
#else
  return absl::UnimplementedError(
      i18n::Format("--to {} is not available, because this build of vramscope has no window; use "
                   "--to svg without --size",
                   options.format));
#endif
}

absl::Status Write(const std::shared_ptr<const trace::Trace>& whole, const ExporterEntry& format,
                   const Options& options, std::ostream& out) {
  if (options.drawn()) return WritePicture(whole, options, out);
  ExportRequest request{.trace = format.one_device ? DeviceToShow(whole).trace : whole};
  request.title = TitleOf(*request.trace, options);
  request.command = fmt::format("vramscope export {} --to {} -o {}", options.file, options.format,
                                options.output);
  request.categories = !options.no_categories;
  request.annotations = !options.no_annotations;
  if (!options.baseline.empty()) {
    if (absl::Status added = AddBaseline(options, request); !added.ok()) return added;
  }
  ProgressBar bar(true);
  request.progress = [&](double fraction) {
    bar.Show(fraction, i18n::Format("writing {}", options.output));
  };
  return format.write(request, out);
}

ExitCode Execute(const Options& options) {
  const ExporterEntry format = FormatOf(options);
  const auto only_for = [](std::string_view option, std::string_view formats) {
    NoteError(i18n::Format("{} applies only to --to {}", option, formats));
    return kUsage;
  };
  if ((options.no_categories || options.no_annotations) && !format.uses_labels)
    return only_for("--no-categories, --no-annotations", NamesWith(&ExporterEntry::uses_labels));
  if (!options.title.empty() && !format.uses_title)
    return only_for("--title", NamesWith(&ExporterEntry::uses_title));
  if (!options.baseline.empty() && !format.uses_baseline)
    return only_for("--baseline", NamesWith(&ExporterEntry::uses_baseline));
  if (options.made_otherwise() && !options.drawn())
    return only_for("--size, --scale, --theme", i18n::Text("png, pdf and (with --size) svg"));
#ifdef VRAMSCOPE_WITH_WINDOW
  if (!options.size.empty()) {
    if (const absl::Status wrong = ui::CheckSize(options.size); !wrong.ok()) {
      NoteError(std::string(wrong.message()));
      return kUsage;
    }
  }
#endif
  if (WouldReplaceInput(options.output, {options.file, options.baseline})) return kUsage;
  const auto trace = OpenTrace(options.file, options.range);
  if (!trace.ok()) return ReportError(trace.status());
  // Saves a part of the trace, or one of its devices, as a `.trace`.
  if (format.write == nullptr && !options.drawn()) {
    const absl::Status status = WriteTrace(**trace, options.output);
    return status.ok() ? kDone : ReportError(status);
  }
  const absl::Status status = WriteStream(
      options.output, [&](std::ostream& out) { return Write(*trace, format, options, out); });
  return status.ok() ? kDone : ReportError(status);
}

void DeclareExport(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  const std::vector<ExporterEntry> formats = Formats();
  const std::vector<std::string> names = NamesOf(formats);
  command->add_option("--to", options->format, FormatsHelp(formats))
      ->required()
      ->check(CLI::IsMember(names).description(""))
      ->type_name(fmt::format("{}", fmt::join(names, "|")));
  command->add_option("-o,--output", options->output, "file to write ('-': stdout)")
      ->required()
      ->type_name("OUT");
  AddRangeOptions(*command, options->range);
  command->add_flag("--no-categories", options->no_categories,
                    "for a snapshot: leave out the category of each block");
  command->add_flag("--no-annotations", options->no_annotations,
                    "for a snapshot: leave out steps, phases and named ranges");
  command->add_option("--title", options->title, "title of the image or page")->type_name("TEXT");
  command->add_option("--baseline", options->baseline, "for a page: a trace to compare with")
      ->type_name("FILE");
  command
      ->add_option("--size", options->size,
                   "for png, pdf and svg: the size of the image, such as 1680x1050")
      ->type_name("WxH");
  command->add_option("--scale", options->scale, "for png: scale factor of the image, 0.5 to 4")
      ->check(NumberBetween(0.5, 4))
      ->type_name("N");
  command->add_option("--theme", options->theme, "for png, pdf and svg: light or dark")
      ->check(CLI::IsMember({"light", "dark"}).description(""))
      ->type_name("light|dark");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_export() {
  return {.place = 100,
          .name = "export",
          .help = "write a trace in another format",
          .example = "export run.trace --to snapshot -o run.pickle",
          .declare = DeclareExport};
}

}  // namespace vramscope::cli::export_command
