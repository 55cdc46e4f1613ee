// The vramscope program: opens the window or runs a subcommand. It never links LibTorch.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <utility>

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/language.h"
#include "app/cli/output.h"
#include "app/cli/version_text.h"
#include "app/cli/window.h"
#include "profiler/base/i18n.h"
#include "profiler/base/install_paths.h"
#include "profiler/run/units.h"
#include "profiler/trace/terminate.h"

namespace vramscope::cli {
namespace {

void AddWindowOptions(CLI::App& app, WindowArguments& window) {
  app.add_option("FILE", window.files, "traces to open in the window");
  app.add_flag("--in-open-window", window.in_open_window,
               "open the files in the window that is already open, if any");
  app.add_option("--screenshot", window.screenshot, "draw the window, save it as a PNG, and exit")
      ->type_name("OUT.png");
  app.add_option("--page", window.page,
                 "page to open: phases, allocations, kernels, search=TEXT, compare, what-if=CONF, "
                 "techniques=WORDS, ...")
      ->type_name("NAME");
  app.add_option("--size", window.size, "size of the window, such as 1680x1050")->type_name("WxH");
  app.add_option("--theme", window.theme, "color theme of the window: dark, light or system")
      ->check(CLI::IsMember({"dark", "light", "system"}))
      ->type_name("NAME");
  app.add_option("--lang", window.language,
                 "language: en or zh_CN. By default, commands use the language of $LANG, and the "
                 "window uses the language chosen last")
      ->type_name("NAME");
  app.add_option("--scale", window.scale,
                 "scale of the window and of --screenshot: pixels per point")
      ->check(NumberBetween(0.5, 4), "FLOAT in [0.5 - 4]")
      ->type_name("N");
  app.add_option("--dump-state", window.dump_state,
                 "write the contents of the window to this file as JSON, and exit")
      ->type_name("OUT.json");
}

// A mistyped command ("vramscope plna") looks like a file to open. Returns a message that suggests
// the most similar command.
std::string MistypedCommand(const CLI::App& app, const std::vector<std::string>& files) {
  if (files.empty() || std::filesystem::exists(files[0])) return "";
  if (files[0].find_first_of("./") != std::string::npos) return "";
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = run::Nearest(files[0], views.data(), views.data() + views.size());
  return i18n::Format("\"{}\" is neither a file nor a command{}", files[0],
                      near.empty() ? std::string() : i18n::Format("; did you mean \"{}\"?", near));
}

// For commands that take a program, stores the words after "--" unchanged. Returns the remaining
// argc.
int TakeProgram(int argc, char** argv, Context& context) {
  if (argc < 2) return argc;
  const std::string_view command(argv[1]);
  const auto takes_program = [&](const CommandEntry& entry) {
    return entry.takes_program && command == entry.name;
  };
  if (std::ranges::none_of(AllCommands(), takes_program)) return argc;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    context.has_program = true;
    context.after_dashes.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

int Main(int argc, char** argv) {
  WindowArguments window;
  if (!TranslateOutput(argc, argv, window.language)) return kUsage;
  TranslateInterrupt();
  Context context{.program = argv[0]};
  CLI::App app(
      TEXT_MARK("vramscope: shows the contents of GPU memory while a neural network trains.\n"
                "Without a command, opens the FILEs in the window."));
  app.name("vramscope");
  app.set_version_flag("--version", [] { return VersionText(); });
  app.require_subcommand(0, 1);
  AddWindowOptions(app, window);
  RefuseEmptyValues(app);
  for (const CommandEntry& entry : AllCommands()) AddCommand(app, entry, context);
  app.footer(
      TEXT_MARK("vramscope COMMAND --help shows details. Exit status: 0 success, 1 negative "
                "result,\n2 wrong usage, 3 bad input, 4 internal failure."));
  TranslateHelp(app);

  argc = TakeProgram(argc, argv, context);
  try {
    app.parse(ForParser({argv + 1, argv + argc}));
  } catch (const CLI::Success& help) {  // --help, --version
    std::ostringstream text;
    app.exit(help, text, text);
    return PrintText(text.str());
  } catch (const CLI::ParseError& error) {
    TranslateLate();
    const auto chosen = app.get_subcommands();
    NoteError(i18n::Format("{}\nvramscope: `vramscope{} --help` shows the usage", ErrorText(error),
                           chosen.empty() ? "" : " " + chosen[0]->get_name()));
    return kUsage;
  }
  if (!app.get_subcommands().empty()) return context.exit_code;
  if (const std::string mistyped = MistypedCommand(app, window.files); !mistyped.empty()) {
    NoteError(mistyped);
    return kUsage;
  }
  for (const std::string& output : {window.screenshot, window.dump_state}) {
    if (WouldReplaceInput(output, window.files)) return kUsage;
  }
  return OpenWindow(argc, argv, window);
}

}  // namespace
}  // namespace vramscope::cli

// This takes effect before main(), because libraries allocate memory before main() begins.
VRAMSCOPE_END_CLEANLY_FROM_THE_START("vramscope");

int main(int argc, char** argv) {
  vramscope::cli::EndOnInterrupt();
  try {
    vramscope::base::RestoreLibraryPath();
    // Tests whether there is enough memory to read the catalogue. Without this test, a
    // destructor of the JSON parser could fail to allocate, and the program would end without a
    // message.
    void* volatile room = ::operator new (size_t{16} << 20);
    ::operator delete(room);
    return vramscope::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return vramscope::cli::ReportError(vramscope::cli::OutOfMemory(""));
  } catch (const std::exception& error) {
    vramscope::cli::Note(vramscope::i18n::Format("internal failure: {}", error.what()));
    return vramscope::cli::kInternalFailure;
  }
}
