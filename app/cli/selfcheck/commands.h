// Runs commands of the command line inside this process and returns their output as JSON. One
// command at a time, on the main thread.
//
//   Commands commands;
//   const Answer info = commands.Run({"info", file, "--json"});
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/input.h"

namespace vramscope::cli::selfcheck {

struct Answer {
  int exit_code = kInternalFailure;
  Json json;          // null: no JSON was printed
  std::string error;  // the last note of a command that failed
  bool ok() const { return exit_code == kDone || exit_code == kNo; }
};

// A temporary folder, deleted with the object. path() is empty if it could not be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Commands {
 public:
  // If the command throws an exception, returns it as the error of the Answer.
  Answer Run(std::vector<std::string> arguments);
  const ScratchFolder& folder() const { return folder_; }
  // Forgets the opened files. Call it after a file has been rewritten under the same name.
  void Forget() { opened_.Forget(); }

 private:
  OpenedFiles opened_;
  ScratchFolder folder_;
};

// Returns the value at the given keys and indexes, or null. Example: At(json, "peak",
// "allocated").
const Json& At(const Json& json);
template <class... Rest>
const Json& At(const Json& json, const char* key, const Rest&... rest) {
  static const Json none;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? At(*found, rest...) : none;
}
// Sums the values of one key of all objects in an array, or all values of an object. Returns null
// if a value is missing or is not a number.
Json Sum(const Json& array, const char* key);
Json Sum(const Json& object);

}  // namespace vramscope::cli::selfcheck
