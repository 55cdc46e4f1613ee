#include "profiler/trace/catch_status.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace vramscope::trace {

absl::Status StatusOfException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("this computer has not enough free memory for it");
  } catch (const std::length_error&) {
    // A container that would be larger than the address space.
    return absl::ResourceExhaustedError("this computer has not enough free memory for it");
  } catch (const std::exception& e) {
    return absl::InternalError(std::string("unexpected error: ") + e.what());
  } catch (...) {
    return absl::InternalError("unexpected error");
  }
}

}  // namespace vramscope::trace
