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

// Columns two spaces apart, header underlined, indented by two spaces.
class Table {
 public:
  enum Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Row(std::vector<std::string> cells);
  std::string Text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string Count(uint64_t value);       // "494,032,768"
std::string Milliseconds(double value);  // "12.34 ms", "1.50 s", "85.0 us"
std::string SignedBytes(int64_t bytes);  // "+1.84 GiB"
// Names come from files: control characters would steer the terminal.
std::string Printable(std::string_view text);

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
