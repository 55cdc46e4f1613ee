#include "app/cli/selfcheck/commands.h"

#include <stdlib.h>

#include <exception>
#include <filesystem>
#include <utility>

namespace vramscope::cli::selfcheck {

ScratchFolder::ScratchFolder() {
  std::error_code none;
  std::string path = (std::filesystem::temp_directory_path(none) / "vramscope-XXXXXX").string();
  if (!none && mkdtemp(path.data()) != nullptr) path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Answer Commands::Run(std::vector<std::string> arguments) {
  Context context;
  CLI::App app("vramscope");
  app.require_subcommand(1);
  for (const CommandEntry& entry : AllCommands())
    if (!arguments.empty() && arguments.front() == entry.name) AddCommand(app, entry, context);
  CapturedOutput output;
  Answer answer;
  try {
    app.parse(ForParser(std::move(arguments)));
    answer.exit_code = context.exit_code;
  } catch (const CLI::ParseError& error) {
    answer.exit_code = kUsage;
    output.notes.emplace_back(error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    output.notes.emplace_back(error.what());
  }
  answer.json = std::move(output.json);
  if (!answer.ok() && !output.notes.empty()) answer.error = output.notes.back();
  return answer;
}

const Json& At(const Json& json) { return json; }

Json Sum(const Json& array, const char* key) {
  if (!array.is_array()) return {};
  uint64_t sum = 0;
  for (const Json& item : array) {
    const Json& value = At(item, key);
    if (!value.is_number_integer()) return {};
    sum += value.get<uint64_t>();
  }
  return sum;
}

Json Sum(const Json& object) {
  if (!object.is_object()) return {};
  uint64_t sum = 0;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_number_integer()) return {};
    sum += value.get<uint64_t>();
  }
  return sum;
}

}  // namespace vramscope::cli::selfcheck
