// `plan --with PACKAGE==V1,V2 -- PROGRAM`: planned under each version of a package, in environments
// that are made and kept (program_environments.h), and what changes from one to the next.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/plan.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

struct PackageVersions {
  std::string package;
  std::vector<std::string> versions;
};
// kInvalidArgument: what is allowed.
absl::StatusOr<PackageVersions> ParsePackageVersions(std::string_view text);

// kNo: a version could not be planned; the others were.
ExitCode PlanVersions(const std::vector<std::string>& command, const ProgramOptions& options,
                      const std::string& with, const RunOutput& output);

}  // namespace vramscope::cli
