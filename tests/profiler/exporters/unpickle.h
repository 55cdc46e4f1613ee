// What Python's pickle.load() gives, as JSON, for pickles without objects. Written apart from the
// code under test; throws std::runtime_error with the byte on anything odd.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace vramscope::exporters {

nlohmann::json Unpickle(std::string_view bytes);

}  // namespace vramscope::exporters
