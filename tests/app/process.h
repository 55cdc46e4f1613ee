// Runs the built vramscope program and collects what it says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vramscope::test {

struct Outcome {
  int status = -1;  // exit status; 128 + n: ended by signal n
  std::string out, err;
};

struct ProcessOptions {
  std::string input;                     // for standard input
  std::string input_path;                // in its place, a file
  std::string output_path;               // standard output goes on there, and not into the outcome
  std::string folder;                    // run in it
  std::string vanished_folder;           // run in it, after it was removed
  uint64_t address_space = 0;            // at most so many bytes of it
  std::vector<std::string> environment;  // "NAME=value", over the own one; "NAME" removes
  int signal = 0;                        // sent to the program `signal_after_ms` after its start
  int signal_after_ms = 0;
  std::function<bool()> signal_when;  // in place of a time: asked again and again until it says so
};

// Standard output and error go through files, so that nothing can fill a pipe. Ends the program
// after four minutes.
Outcome RunVramscope(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// A folder that is removed with the value.
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
