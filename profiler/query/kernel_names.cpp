#include "profiler/query/kernel_names.h"

#include <absl/strings/ascii.h>

namespace vramscope::query {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool IsOfAName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns the position of the comma or bracket that ends an argument. Skips nested brackets with
// their contents.
size_t EndOfArgument(std::string_view name, size_t at) {
  int depth = 0;
  for (; at < name.size(); ++at) {
    const char c = name[at];
    if (depth == 0 && (c == ',' || c == '>')) break;
    if (c == '(' || c == '<' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == '}') --depth;
  }
  return at;
}

void DropQualifier(std::string& out) {
  while (!out.empty() && IsOfAName(out.back())) out.pop_back();
}

}  // namespace

std::string KernelName(std::string_view name) {
  // The first bracket after the name begins the arguments or template arguments. "(anonymous
  // namespace)" is part of the name.
  size_t end = 0;
  while (end < name.size() && name[end] != '<' && name[end] != '(') {
    ++end;
    if (name.substr(end, kAnonymous.size()) == kAnonymous) end += kAnonymous.size();
  }
  std::string_view shorter = name.substr(0, end);
  if (const size_t scope = shorter.rfind("::"); scope != std::string_view::npos)
    shorter.remove_prefix(scope + 2);
  if (const size_t space = shorter.rfind(' '); space != std::string_view::npos)
    shorter.remove_prefix(space + 1);
  return std::string(shorter.empty() ? name : shorter);
}

std::string ReadableKernel(std::string_view name) {
  constexpr std::string_view kVoid = "void ", kOperator = "::operator";
  const size_t bracket = name.find_first_of("<(");
  // "cublasSgemm_v2 (modelled)" and "Memcpy (DtoH)" are not function names.
  if (bracket == std::string_view::npos || bracket == 0 ||
      (name[bracket - 1] == ' ' && !name.starts_with(kVoid)))
    return std::string(name);
  std::string out;
  for (size_t at = name.starts_with(kVoid) ? kVoid.size() : 0; at < name.size(); ++at) {
    const std::string_view rest = name.substr(at);
    if (rest.starts_with("::") && !out.empty() && IsOfAName(out.back())) {
      DropQualifier(out);
      ++at;
    } else if (rest.starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
      if (name.substr(at + 1).starts_with("::")) at += 2;
    } else if (name[at] == '(') {
      at = EndOfArgument(name, at) - 1;
      if (out.ends_with(kOperator)) out.resize(out.size() - kOperator.size());
    } else if (name[at] != ' ' || !(rest.starts_with(" >") && out.ends_with('>'))) {
      out += name[at];
    }
  }
  return out.empty() ? std::string(name) : out;
}

}  // namespace vramscope::query
