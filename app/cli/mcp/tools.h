// The tools that an agent may call. Each tool is a command of this program. Its arguments are
// checked against the schema that clients see.
//
//   const Tool* tool = FindTool("peak");
//   ASSIGN_OR_RETURN(const Call call, tool->call(arguments, access));
//
// Pure functions, apart from reading paths; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <string>
#include <vector>

#include "app/cli/command.h"

namespace vramscope::cli::mcp {

// What the tools of a server are allowed to do.
struct Access {
  // files are read and written only within these folders, or anywhere if there are none
  std::vector<std::string> folders;
  bool programs = false;  // `plan` may run programs
};

// A command to run.
struct Call {
  enum class How {
    kHere,   // in this process, for commands that only read
    kChild,  // in a separate process, for slow commands, which a client may cancel
    kShow,   // shown in the window
  };
  How how = How::kHere;
  // Arguments of the command line, beginning with the command's name.
  std::vector<std::string> arguments;
  std::vector<std::string> program;  // the words after --
  std::vector<std::string> files;    // the files that the command reads
  std::string folder;                // working directory; "": the server's working directory
  bool makes_trace = false;          // the server must add -o
  // the path at which the trace is saved, or "" for the server's own folder of traces
  std::string save_as;
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
const Tool* FindTool(std::string_view name);  // null: no such tool

// Returns OK, or kInvalidArgument and the names of the arguments that do not match the schema.
absl::Status CheckArguments(const Json& schema, const Json& arguments);

// Returns the list of tools as the response to `tools/list`.
Json ToolsJson();

// Returns the JSON with at most `most` elements in every array. "left_out" in the result says how
// many elements were removed from each array ({path: count}).
Json Shortened(const Json& json, size_t most);

}  // namespace vramscope::cli::mcp
