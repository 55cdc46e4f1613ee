// Stores activities in a mapped file until they are written as a chunk, so that they survive the
// process (profiler/program/activity_tail.h). Example:
//
//   ActivityTailWriter tail;
//   if (tail.Create(path, rows_of_the_file, names_of_the_file))
//     if (!tail.Add(activity, new_names)) {
//       write tail.rows() as a chunk, with the new names;
//       tail.Clear(rows_of_the_file, names_of_the_file);
//     }
//
// Use from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cupti/mapped_file.h"
#include "profiler/program/activity_tail.h"
#include "profiler/trace/activities.h"

namespace vramscope::cupti {

class ActivityTailWriter {
 public:
  // Creates an empty tail. `rows` and `names` are the numbers of rows and names that the file of
  // chunks already contains.
  bool Create(const char* path, uint64_t rows, uint32_t names);
  bool created() const { return file_.data() != nullptr; }
  // Returns false if the tail is full. `names` are all names that the file of chunks does not
  // contain yet. They are stored, too.
  bool Add(const trace::Activity& activity, std::span<const std::string> names);
  std::span<const trace::Activity> rows() const;
  // Empties the tail after its content was written as a chunk. `rows` and `names` are the numbers
  // that the file of chunks now contains.
  void Clear(uint64_t rows, uint32_t names);
  void Close() { file_.Close(); }

 private:
  program::ActivityTailHeader& header() const;
  trace::Activity* first() const;

  MappedFile file_;
  uint64_t rows_ = 0;
  size_t names_ = 0, name_bytes_ = 0;
};

}  // namespace vramscope::cupti
