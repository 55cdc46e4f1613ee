// Formats text for users: tables, durations, counts, and the progress bar on stderr. Example:
//
//   Table t({{"Category"}, {"Bytes", Table::kRight}});
//   t.Row({"Parameter", run::FormatBytes(bytes)});
//   text += t.Text();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::cli {

size_t TerminalWidth();  // columns of the terminal on stdout; 0: stdout is not a terminal

// Indents every line by two spaces. On a terminal, long lines are broken between words.
std::string Prose(std::string_view text, size_t width = TerminalWidth());

// Columns are separated by two spaces. The header is underlined, and the table is indented by two
// spaces.
class Table {
 public:
  enum Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = kLeft;
    bool whole = false;  // the column is never cut
    size_t least = 0;    // minimum width in columns of the terminal, if the terminal is wide enough
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Row(std::vector<std::string> cells);
  // On a terminal, cuts the widest column of names so that rows fit. Elsewhere, nothing is cut.
  std::string Text() const { return Text(TerminalWidth()); }
  std::string Text(size_t width) const;  // 0: no limit
  // Return the two parts of Text(): the underlined titles, and the rows. The columns of several
  // tables align if `least` of each column except the last is the same in all tables.
  std::string Head(size_t width = TerminalWidth()) const;
  std::string Rows(size_t width = TerminalWidth()) const;

 private:
  std::vector<size_t> Widths(size_t width) const;
  std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Pads `text` with spaces to a width of `columns` on a terminal.
std::string Padded(std::string_view text, size_t columns);
std::string Count(uint64_t value);       // "494,032,768"
std::string Milliseconds(double value);  // "12.34 ms", "1.50 s", "85.0 us"
std::string SignedBytes(int64_t bytes);  // "+1.84 GiB"
// Makes text from files safe to print. Characters that control the terminal become '?', and bytes
// that are not UTF-8 become U+FFFD.
std::string Printable(std::string_view text);
std::string PrintableLines(std::string_view text);  // keeps the ends of lines

// A bar on stderr that is redrawn in place if stderr is a terminal; otherwise nothing is printed.
// Show() draws the bar, and the destructor erases the line.
class ProgressBar {
 public:
  explicit ProgressBar(bool enabled);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void Show(double fraction, std::string_view text);
  void Clear();

 private:
  bool on_;
  bool drawn_ = false;
};

}  // namespace vramscope::cli
