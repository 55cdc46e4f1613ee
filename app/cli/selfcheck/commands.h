// Runs the commands of the command line inside this process and hands over what they say, as JSON
// and not as text. One at a time, on the main thread.
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
  Json json;          // null: it printed none
  std::string error;  // the last note, of a command that failed
  bool ok() const { return exit_code == kDone || exit_code == kNo; }
};

// A folder that goes with the object. path() is empty where none could be made.
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
  // A command that goes wrong in itself (an exception) is an Answer as well.
  Answer Run(std::vector<std::string> arguments);
  const ScratchFolder& folder() const { return folder_; }
  // Of a file that has been written anew under the same name.
  void Forget() { opened_.Forget(); }

 private:
  OpenedFiles opened_;
  ScratchFolder folder_;
};

// The value behind keys and indexes, null where there is none: At(json, "peak", "allocated").
const Json& At(const Json& json);
template <class... Rest>
const Json& At(const Json& json, const char* key, const Rest&... rest) {
  static const Json none;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? At(*found, rest...) : none;
}
// The sum of one key of the objects of an array, or of an object's values; null where one is
// missing or no number.
Json Sum(const Json& array, const char* key);
Json Sum(const Json& object);

}  // namespace vramscope::cli::selfcheck
