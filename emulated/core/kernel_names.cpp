#include "emulated/core/kernel_names.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace vramscope::emulated {

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : "";
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string> Parts(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    depth += c == '<' || c == '(' || c == '[' || c == '{';
    depth -= c == '>' || c == ')' || c == ']' || c == '}';
    if (c != ',' || depth != 0) continue;
    parts.emplace_back(Trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  const std::string_view last = Trimmed(list.substr(begin));
  if (!last.empty() || !parts.empty()) parts.emplace_back(last);
  return parts;
}

std::pair<std::string, std::vector<std::string>> SignatureOf(const std::string& text) {
  if (!text.ends_with(')')) return {};
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')';
    depth -= text[i] == '(';
    if (depth != 0) continue;
    return {text.substr(0, i), Parts(std::string_view(text).substr(i + 1, text.size() - i - 2))};
  }
  return {};
}

Template TemplateOf(std::string_view type) {
  const size_t open = type.find('<');
  if (open == std::string_view::npos || !type.ends_with('>')) return {};
  std::string_view name = type.substr(0, open);
  if (const size_t scope = name.rfind(':'); scope != std::string_view::npos)
    name.remove_prefix(scope + 1);
  return {name, Parts(type.substr(open + 1, type.size() - open - 2))};
}

int NumberOf(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

uint64_t WordAt(void** parameters, size_t parameter, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(parameters[parameter]) + at, sizeof value);
  return value;
}

}  // namespace vramscope::emulated
