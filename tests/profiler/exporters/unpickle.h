// Returns as JSON what Python's pickle.load() returns for pickles without objects. Shares no code
// with the code under test. Throws std::runtime_error with the byte offset for unexpected input.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace vramscope::exporters {

nlohmann::json Unpickle(std::string_view bytes);

}  // namespace vramscope::exporters
