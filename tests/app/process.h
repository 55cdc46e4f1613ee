// Runs the built vramscope program and collects its output.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vramscope::test {

struct Outcome {
  int status = -1;  // exit status, or 128 + n if signal n ended the program
  std::string out, err;
};

struct ProcessOptions {
  std::string input;           // passed to standard input
  std::string input_path;      // a file for standard input, instead of `input`
  std::string output_path;     // a file for standard output, instead of Outcome::out
  std::string folder;          // working folder
  std::string deleted_folder;  // working folder, which is deleted before the start
  uint64_t address_space = 0;  // limit of the address space in bytes; 0: none
  std::vector<std::string>
      environment;  // "NAME=value" overrides the inherited variable; "NAME" removes it
  int signal = 0;   // sent to the program `signal_after_ms` after its start
  int signal_after_ms = 0;
  std::function<bool()> signal_when;  // called repeatedly; sends the signal when it returns true
};

// Writes standard output and error to files, because a pipe could fill up. Ends the program after
// four minutes.
Outcome RunVramscope(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// A folder that is deleted with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& content);

}  // namespace vramscope::test
