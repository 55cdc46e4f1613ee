#include "profiler/trace/op_names.h"

#include <absl/strings/ascii.h>

#include <array>

namespace vramscope::trace {
namespace {

using Text = std::string_view;

constexpr Text kOperators = "at::_ops::";
constexpr Text kAutograd = "torch::autograd::";
constexpr Text kGenerated = "torch::autograd::generated::";

bool Has(Text text, Text part) { return text.find(part) != Text::npos; }

}  // namespace

// An underscore joins the names of operator and overload. The last part is taken for an overload if
// it begins with a capital letter or is in the list.
std::string OperatorName(Text function) {
  if (!function.starts_with(kOperators)) return "";
  Text name = function.substr(kOperators.size());
  name = name.substr(0, name.find_first_of(":("));
  static constexpr std::array<Text, 17> kOverloads = {
      "_memory_format", "_dim_IntList", "_start_step", "_dim_max", "_dim_min", "_start_out",
      "_from_file",     "_correction",  "_names",      "_start",   "_other",   "_value",
      "_out",           "_self",        "_src",        "_int",     "_dim"};
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '_' && absl::ascii_isupper(name[i + 1])) {
      name = name.substr(0, i);
      break;
    }
  }
  for (bool again = true; again;) {
    again = false;
    for (const Text overload : kOverloads) {
      if (name.size() > overload.size() && name.ends_with(overload)) {
        name.remove_suffix(overload.size());
        again = true;
        break;
      }
    }
  }
  return "aten::" + std::string(name);
}

bool AsksForStorageOnly(Text function) {
  const size_t begin = function.starts_with(kOperators) ? kOperators.size() : 0;
  Text op = function.substr(begin);
  if (begin == 0) op = op.substr(op.rfind("::") == Text::npos ? 0 : op.rfind("::") + 2);
  return op.starts_with("empty") || op.starts_with("new_empty") || op.starts_with("resize_") ||
         op == "_resize_";
}

Text NodeName(Text function) {
  if (function.starts_with("torch::autograd::AccumulateGrad::")) {
    return function.substr(0, kAutograd.size() + Text("AccumulateGrad").size());
  }
  if (function.starts_with(kGenerated) && Has(function, "::apply(")) {
    function.remove_prefix(kGenerated.size());
    return function.substr(0, function.find("::apply("));
  }
  // vramscope's own snapshots and RecordFunction have names without a namespace.
  if (function == "AccumulateGrad" || function == "torch::autograd::AccumulateGrad") {
    return function;
  }
  const size_t digits = function.find_last_not_of("0123456789");
  const bool bare = digits != Text::npos && digits + 1 < function.size() &&
                    function.substr(0, digits + 1).ends_with("Backward") && !Has(function, "(");
  return bare || function == "CompiledFunctionBackward" ? function : Text();
}

}  // namespace vramscope::trace
