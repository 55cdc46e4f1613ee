// What an agent may ask for: each tool is a command of this program, its arguments checked against
// the schema that clients are shown.
//
//   const Tool* tool = FindTool("peak");
//   ASSIGN_OR_RETURN(const Call call, tool->call(arguments, access));
//
// Pure functions but for looking at paths; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <string>
#include <vector>

#include "app/cli/command.h"

namespace vramscope::cli::mcp {

// What a server allows, beside the tools themselves.
struct Access {
  std::vector<std::string> folders;  // files are read and written within these alone; none: all
  bool programs = false;             // `plan` may run programs
};

// A command to run.
struct Call {
  enum class How {
    kHere,   // within this process: it reads
    kChild,  // in one of its own: it takes time, and a client may cancel it
    kShow,   // in a window
  };
  How how = How::kHere;
  std::vector<std::string> arguments;  // of the command line, its name first
  std::vector<std::string> program;    // behind --
  std::vector<std::string> files;      // that it reads
  std::string folder;                  // that it runs in; "": this one's
  bool makes_trace = false;            // -o is to be added
  std::string save_as;                 // where; "": among this server's own
};

struct Tool {
  const char* name;
  const char* title;
  const char* about;
  bool read_only;
  Json (*schema)();
  absl::StatusOr<Call> (*call)(const Json& arguments, const Access& access);
};

std::span<const Tool> Tools();
const Tool* FindTool(std::string_view name);  // null: there is none

// kInvalidArgument: what is wrong with them, by name.
absl::Status CheckArguments(const Json& schema, const Json& arguments);

// The tools as `tools/list` has them.
Json ToolsJson();

// The same with at most `most` elements of every array; the number of those left out under
// "left_out" {path: count} of the object.
Json Shortened(const Json& json, size_t most);

}  // namespace vramscope::cli::mcp
