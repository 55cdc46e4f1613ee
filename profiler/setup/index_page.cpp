#include "profiler/setup/index_page.h"

#include <absl/strings/str_replace.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/base/i18n.h"

namespace vramscope::setup {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestLink = 4096;

std::string Text(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

std::string OfJson(std::string_view page, const Wheel& wheel) {
  const Json json = Json::parse(page, nullptr, false);
  if (!json.is_object()) return "";
  const auto files = json.find("files");
  if (files == json.end() || !files->is_array()) return "";
  std::string named;
  for (const Json& file : *files) {
    if (!file.is_object()) continue;
    const std::string link = Text(file, "url");
    const auto hashes = file.find("hashes");
    if (hashes != file.end() && hashes->is_object() && Text(*hashes, "sha256") == wheel.sha256)
      return link;
    if (Text(file, "filename") == wheel.file) named = link;
  }
  return named;
}

// Reads the href of every link and ignores the rest of the HTML.
std::string OfHtml(std::string_view page, const Wheel& wheel) {
  std::string named;
  constexpr std::string_view kHref = "href=";
  for (size_t at = page.find(kHref); at != page.npos; at = page.find(kHref, at)) {
    at += kHref.size();
    if (at >= page.size()) break;
    const char quote = page[at];
    if (quote != '"' && quote != '\'') continue;
    const size_t end = page.find(quote, at + 1);
    if (end == page.npos) break;
    const std::string_view link = page.substr(at + 1, end - at - 1);
    at = end;
    if (link.size() > kLongestLink) continue;
    const size_t fragment = link.find('#');
    std::string plain = absl::StrReplaceAll(
        absl::string_view(link.data(), std::min(fragment, link.size())), {{"&amp;", "&"}});
    if (fragment != link.npos && link.substr(fragment) == "#sha256=" + wheel.sha256) return plain;
    if (plain.ends_with("/" + wheel.file) || plain == wheel.file) named = std::move(plain);
  }
  return named;
}

}  // namespace

absl::StatusOr<std::string> FindWheel(std::string_view page, const Wheel& wheel) {
  const size_t first = page.find_first_not_of(" \t\r\n");
  const bool json = first != page.npos && page[first] == '{';
  const std::string link = json ? OfJson(page, wheel) : OfHtml(page, wheel);
  if (link.empty() || link.size() > kLongestLink)
    return absl::NotFoundError(i18n::Format("the package index has no {}", wheel.file));
  return link;
}

}  // namespace vramscope::setup
