// Returns the text of a system error for messages.
#pragma once

#include <string>

namespace vramscope::i18n {

// Returns the text of std::strerror(), translated if the error is a common one. Thread-safe.
std::string ErrnoText(int error);

}  // namespace vramscope::i18n
