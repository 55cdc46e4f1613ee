#include "app/cli/version_text.h"

#include <fmt/format.h>

#include <QtGlobal>

#include "commit.h"  // made by the build
#include "profiler/base/version.h"
#include "profiler/trace/header_codec.h"

namespace vramscope::cli {

std::string VersionText() {
  return fmt::format("vramscope {}\ncommit {}\ntrace format {} (reads 1 to {})\nQt {}\nLibTorch {}",
                     base::Version(), VRAMSCOPE_COMMIT, trace::kFormatVersion,
                     trace::kFormatVersion, qVersion(), VRAMSCOPE_TORCH_VERSION);
}

}  // namespace vramscope::cli
