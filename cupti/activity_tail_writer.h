// Activities that wait to be written as a chunk, where the death of the process does not take them:
// profiler/program/activity_tail.h.
//
//   ActivityTailWriter tail;
//   if (tail.Create(path, rows_of_the_file, names_of_the_file))
//     if (!tail.Add(activity, new_names)) {
//       write tail.rows() as a chunk, with the new names;
//       tail.Clear(rows_of_the_file, names_of_the_file);
//     }
//
// One thread at a time.
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
  // Empty, behind so many rows and names of the file.
  bool Create(const char* path, uint64_t rows, uint32_t names);
  bool created() const { return file_.data() != nullptr; }
  // False: there is no room. `names`: all that the file does not have; they are kept, too.
  bool Add(const trace::Activity& activity, std::span<const std::string> names);
  std::span<const trace::Activity> rows() const;
  // They and the names have been written: the file has so many.
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
