#include <string_view>

#include "profiler/importers/importer.h"

namespace vramscope::importers {
namespace {

using std::string_view_literals::operator""sv;

const ImporterEntry* ByKey(const JsonKey& key) {
  for (const ImporterEntry& importer : AllImporters())
    if (importer.has_key != nullptr && importer.has_key(key)) return &importer;
  return nullptr;
}

// Scans JSON text without parsing it, for the keys of the outermost object or of the objects in the
// outermost list. (A Chrome trace can be a bare list of events, and memory_snapshot() returns a
// list of segments.) To find these keys, it is enough to track strings and the depth of brackets.
const ImporterEntry* ByKeys(std::string_view text) {
  int depth = 0;
  bool in_list = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') {
      if (++depth == 1) in_list = c == '[';
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == '"') {
      const size_t begin = i + 1;
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      if (i >= text.size()) break;
      const std::string_view string = text.substr(begin, i - begin);
      const size_t next = text.find_first_not_of(" \t\r\n", i + 1);
      if (next == std::string_view::npos || text[next] != ':') continue;  // not a key
      if (depth != (in_list ? 2 : 1)) continue;
      if (const ImporterEntry* importer = ByKey({.name = string, .in_list = in_list}))
        return importer;
    }
  }
  return nullptr;
}

}  // namespace

const ImporterEntry* FindImporter(std::string_view head) {
  for (const ImporterEntry& importer : AllImporters())
    if (importer.begins != nullptr && importer.begins(head)) return &importer;
  const size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf"sv);
  const bool json = at != std::string_view::npos && (head[at] == '{' || head[at] == '[');
  return json ? ByKeys(head.substr(at)) : nullptr;
}

}  // namespace vramscope::importers
