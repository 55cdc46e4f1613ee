// The result of Python's pickle.load() as JSON, for pickles without objects. It is written
// independently of the code under test, and throws std::runtime_error with the byte offset for
// unexpected input.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace vramscope::exporters {

nlohmann::json Unpickle(std::string_view bytes);

}  // namespace vramscope::exporters
