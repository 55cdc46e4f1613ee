#include "profiler/run/run_config.h"

namespace vramscope::run {

std::string_view Name(Backend value) {
  switch (value) {
    case Backend::kPlan:
      return "plan";
    case Backend::kCpu:
      return "cpu";
    case Backend::kCuda:
      return "cuda";
  }
  return "?";
}

}  // namespace vramscope::run
