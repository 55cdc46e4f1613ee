// Text for people: tables, durations, counts, and the progress bar on stderr.
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

size_t TerminalWidth();  // columns of the terminal that stdout is; 0: it is none

// Prose, every line indented by two spaces; on a terminal broken between words.
std::string Prose(std::string_view text, size_t width = TerminalWidth());

// Columns two spaces apart, header underlined, indented by two spaces.
class Table {
 public:
  enum Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = kLeft;
    bool whole = false;  // never cut
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Row(std::vector<std::string> cells);
  // On a terminal the widest column of names is cut so that a row fits; else nothing is.
  std::string Text() const { return Text(TerminalWidth()); }
  std::string Text(size_t width) const;  // 0: whatever it takes

 private:
  std::vector<size_t> Widths(size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string Count(uint64_t value);       // "494,032,768"
std::string Milliseconds(double value);  // "12.34 ms", "1.50 s", "85.0 us"
std::string SignedBytes(int64_t bytes);  // "+1.84 GiB"
// Names come from files: what steers a terminal becomes '?', what is no UTF-8 U+FFFD.
std::string Printable(std::string_view text);
std::string PrintableLines(std::string_view text);  // the same, line by line

// A bar on stderr, redrawn in place, when stderr is a terminal; nothing elsewhere. Not a class of
// many features: Show() draws, the destructor wipes the line.
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
