#include "profiler/base/errno_text.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include "profiler/base/i18n.h"

namespace vramscope::i18n {
namespace {

// The common errors of files, folders and processes, in glibc's words.
struct Row {
  int error;
  std::string_view text;
};
constexpr Row kRows[] = {
    {EACCES, TEXT_MARK("Permission denied")},
    {EEXIST, TEXT_MARK("File exists")},
    {EINVAL, TEXT_MARK("Invalid argument")},
    {EIO, TEXT_MARK("Input/output error")},
    {EISDIR, TEXT_MARK("Is a directory")},
    {EMFILE, TEXT_MARK("Too many open files")},
    {ENOENT, TEXT_MARK("No such file or directory")},
    {ENOEXEC, TEXT_MARK("Exec format error")},
    {ENOMEM, TEXT_MARK("Cannot allocate memory")},
    {ENOSPC, TEXT_MARK("No space left on device")},
    {ENOTDIR, TEXT_MARK("Not a directory")},
    {EPERM, TEXT_MARK("Operation not permitted")},
    {EPIPE, TEXT_MARK("Broken pipe")},
    {EROFS, TEXT_MARK("Read-only file system")},
};

}  // namespace

std::string ErrnoText(int error) {
  for (const Row& row : kRows)
    if (row.error == error) return Text(row.text);
  return std::generic_category().message(error);
}

}  // namespace vramscope::i18n
