#include "profiler/trace/catch_status.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "profiler/base/i18n.h"

namespace vramscope::trace {
namespace {

constexpr const char* kNotEnough = TEXT_MARK("this computer does not have enough free memory");

// Statuses that are made when the program starts, because copying a status needs no memory. They
// are never destroyed, because threads may still fail while the program ends.
struct Prepared {
  absl::Status out_of_memory = Make(absl::StatusCode::kResourceExhausted, kNotEnough);
  absl::Status unexpected = Make(absl::StatusCode::kInternal, "unexpected error");

  static absl::Status Make(absl::StatusCode code, const char* text) noexcept {
    try {
      return {code, text};
    } catch (const std::bad_alloc&) {
      return {code, ""};  // an empty text needs no memory
    }
  }
};

union Kept {
  Kept() noexcept : prepared() {}
  ~Kept() {}
  Prepared prepared;
};
const Kept kept;

// The text is translated if there is enough memory for that.
absl::Status OutOfMemory() noexcept {
  try {
    return absl::ResourceExhaustedError(i18n::Text(kNotEnough));
  } catch (...) {
    return kept.prepared.out_of_memory;
  }
}

}  // namespace

absl::Status StatusOfException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::length_error&) {
    // Some code wanted a container that is larger than the address space.
    return OutOfMemory();
  } catch (const std::exception& e) {
    try {
      return absl::InternalError(i18n::Format("unexpected error: {}", e.what()));
    } catch (const std::bad_alloc&) {
      return kept.prepared.unexpected;
    }
  } catch (...) {
    return kept.prepared.unexpected;
  }
}

}  // namespace vramscope::trace
