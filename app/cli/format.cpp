#include "app/cli/format.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "profiler/run/times.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

// Returns the first character and its length in bytes. A length of 0 means that it is not UTF-8.
std::pair<uint32_t, size_t> FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
  if (length < 2 || length > text.size()) return {first, length == 1 ? 1 : 0};
  uint32_t character = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    character = character << 6 | (byte(i) & 0x3f);
  }
  // a character below this minimum must be encoded in fewer bytes, so the text is invalid
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  if (character < kLeast[length] || character > 0x10ffff || surrogate) return {0, 0};
  return {character, length};
}

// Returns true for characters that control the terminal, end a line or change text direction.
bool SteersTerminal(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Returns whether a character takes two terminal columns (W or F in Unicode's EastAsianWidth.txt).
bool IsWide(uint32_t c) {
  constexpr std::pair<uint32_t, uint32_t> kWide[] = {
      {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
      {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},   {0xffe0, 0xffe6},
      {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
  };
  return std::ranges::any_of(
      kWide, [&](const auto& range) { return c >= range.first && c <= range.second; });
}

// Returns true for characters that must not begin a line.
bool ClosesText(uint32_t c) {
  constexpr uint32_t kClosing[] = {0x3001, 0x3002, 0x300b, 0x300d, 0x201d, 0x2019,
                                   0xff01, 0xff09, 0xff0c, 0xff1a, 0xff1b, 0xff1f};
  return std::ranges::find(kClosing, c) != std::end(kClosing);
}

struct Character {
  uint32_t code = 0;
  size_t bytes = 0, columns = 0;
};
Character NextCharacter(std::string_view text) {
  const auto [code, bytes] = FirstCharacter(text);
  if (bytes == 0) return {.code = 0, .bytes = 1, .columns = 1};
  return {.code = code, .bytes = bytes, .columns = IsWide(code) ? size_t{2} : size_t{1}};
}

// Returns the number of terminal columns that a UTF-8 text needs.
size_t Width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character c = NextCharacter(text);
    columns += c.columns;
    text.remove_prefix(c.bytes);
  }
  return columns;
}

// Returns `text` or, if it is wider than `columns`, its beginning and "...".
std::string Cut(std::string_view text, size_t columns) {
  if (Width(text) <= columns) return std::string(text);
  size_t bytes = 0;
  for (size_t left = columns - 3; bytes < text.size();) {
    const Character c = NextCharacter(text.substr(bytes));
    if (c.columns > left) break;
    left -= c.columns;
    bytes += c.bytes;
  }
  return std::string(text.substr(0, bytes)) + "...";
}

// Returns the beginning of `word` up to the first possible line break. A line may break before and
// after a wide character; a word without wide characters is not broken.
std::string_view FirstPart(std::string_view word) {
  size_t bytes = 0;
  while (bytes < word.size()) {
    const Character c = NextCharacter(word.substr(bytes));
    bytes += c.bytes;
    if (bytes >= word.size()) break;
    const Character next = NextCharacter(word.substr(bytes));
    if ((c.columns == 2 || next.columns == 2) && !ClosesText(next.code)) break;
  }
  return word.substr(0, bytes);
}

}  // namespace

size_t TerminalWidth() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string Prose(std::string_view text, size_t width) {
  std::string out = "  ";
  size_t column = 2;
  bool space = false;  // a space precedes the next part
  while (!text.empty()) {
    const std::string_view part = FirstPart(text.substr(0, text.find(' ')));
    const size_t columns = Width(part) + (space ? 1 : 0);
    if (width > 0 && column > 2 && column + columns > width) {
      out += "\n  ";
      column = 2;
    } else if (space) {
      out += ' ';
      ++column;
    }
    out += Printable(part);
    column += Width(part);
    text.remove_prefix(part.size());
    space = text.starts_with(' ');
    if (space) text.remove_prefix(1);
  }
  return out + "\n";
}

void Table::Row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::Widths(size_t width) const {
  std::vector<size_t> widths;
  size_t whole = 0, widest = columns_.size();
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t most = std::max(Width(columns_[i].title), columns_[i].least);
    for (const auto& row : rows_) most = std::max(most, Width(row[i]));
    widths.push_back(most);
    whole += most + 2;
    if (columns_[i].align == kLeft && !columns_[i].whole &&
        (widest == columns_.size() || most > widths[widest]))
      widest = i;
  }
  constexpr size_t kLeast = 20;
  if (width > 0 && whole > width && widest < columns_.size() && widths[widest] > kLeast)
    widths[widest] = std::max(kLeast, widths[widest] - std::min(widths[widest], whole - width));
  return widths;
}

std::string Table::Line(const std::vector<std::string>& cells,
                        const std::vector<size_t>& widths) const {
  std::string text = " ";
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string cell = Cut(cells[i], widths[i]);
    const std::string pad(widths[i] - Width(cell), ' ');
    text += columns_[i].align == kRight ? " " + pad + cell : " " + cell + pad;
    if (i + 1 < columns_.size()) text += " ";
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "\n";
}

std::string Table::Head(size_t width) const {
  const std::vector<size_t> widths = Widths(width);
  std::vector<std::string> titles, rules;
  for (const Column& column : columns_) titles.push_back(column.title);
  for (size_t columns : widths) rules.emplace_back(columns, '-');
  return Line(titles, widths) + Line(rules, widths);
}

std::string Table::Rows(size_t width) const {
  const std::vector<size_t> widths = Widths(width);
  std::string text;
  for (const auto& row : rows_) text += Line(row, widths);
  return text;
}

std::string Table::Text(size_t width) const { return Head(width) + Rows(width); }

std::string Padded(std::string_view text, size_t columns) {
  const size_t width = Width(text);
  return std::string(text) + std::string(columns - std::min(columns, width), ' ');
}

std::string Count(uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

std::string Milliseconds(double value) { return run::FormatMilliseconds(value); }

std::string SignedBytes(int64_t bytes) {
  const uint64_t size =
      bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  return (bytes < 0 ? "-" : bytes > 0 ? "+" : "") + run::FormatBytes(size);
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [character, bytes] = FirstCharacter(text);
    if (bytes == 0) {
      out += "\xef\xbf\xbd";
    } else if (SteersTerminal(character)) {
      out += '?';
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

std::string PrintableLines(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += Printable(text.substr(0, end));
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

ProgressBar::ProgressBar(bool enabled) : on_(enabled && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { Clear(); }

void ProgressBar::Show(double fraction, std::string_view text) {
  if (!on_) return;
  constexpr int kCells = 30;
  const int full = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * kCells));
  fmt::print(stderr, "\r\033[K[{:=<{}}{: <{}}] {}", "", full, "", kCells - full,
             Printable(Cut(text, 80)));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace vramscope::cli
