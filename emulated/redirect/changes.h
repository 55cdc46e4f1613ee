#pragma once

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "emulated/redirect/settings.h"

// Shows a program its file system in two layers. The lower layer has the real files and is never
// written. The upper layer is a folder of changes, with changed files under their full paths.
//
// In the upper layer, a symbolic link with a special target marks a removed name, and an empty file
// with a special name marks a folder that hides the lower folder. Both work on any file system.
// Only Listing and CopyTree allocate memory. All functions return 0 or -errno.
namespace vramscope::isolation {

// An absolute path of the program, without links, and its paths in both layers. "" is the root. The
// two paths share one buffer: the upper path is the folder of changes, followed by the lower path.
class Spot {
 public:
  Spot() { Clear(); }
  void Clear() {
    prefix_ = ChangesLength();
    memcpy(text_, Changes(), prefix_);
    length_ = 0;
    text_[prefix_] = 0;
  }
  bool Push(const char* name, size_t length);
  void Pop();
  size_t length() const { return length_; }
  const char* upper() const { return text_; }
  const char* lower() const { return length_ == 0 ? "/" : text_ + prefix_; }
  // Returns the length of the parent folder of the path's first `length` characters.
  size_t Parent(size_t length) const;
  const char* name() const { return text_ + prefix_ + (length_ == 0 ? 0 : Parent(length_) + 1); }
  // Shortens the spot to its first `length` characters while the object exists.
  class Shorter {
   public:
    Shorter(Spot& spot, size_t length)
        : spot_(spot), length_(spot.length_), cut_(spot.text_[spot.prefix_ + length]) {
      spot.length_ = length;
      spot.text_[spot.prefix_ + length] = 0;
    }
    ~Shorter() {
      spot_.text_[spot_.prefix_ + spot_.length_] = cut_;
      spot_.length_ = length_;
    }
    Shorter(const Shorter&) = delete;
    Shorter& operator=(const Shorter&) = delete;

   private:
    Spot& spot_;
    size_t length_;
    char cut_;
  };

 private:
  char text_[2 * 4096];
  size_t prefix_ = 0, length_ = 0;
};

enum class Kind : unsigned char { kNone, kRemoved, kFolder, kLink, kOther };
Kind KindOf(const struct stat& status);

// The layers that contain a folder. `real` means that the folder is not isolated.
struct Layers {
  bool upper = true, lower = true, real = false;
};

struct Place {
  Spot spot;
  Layers in;                 // layers of the parent folder
  bool real = false;         // not isolated: only in the lower layer
  bool slash = false;        // the given path ends with a slash
  Kind upper = Kind::kNone;  // the entry in the folder of changes
  Kind lower = Kind::kNone;  // the real entry, unless the upper layer hides it
  struct stat status;        // status of the entry that the program sees

  Kind seen() const {
    return upper == Kind::kRemoved ? Kind::kNone : upper != Kind::kNone ? upper : lower;
  }
  bool exists() const { return seen() != Kind::kNone; }
  // Returns the path to pass to the kernel.
  const char* visible() const {
    return !real && upper != Kind::kNone ? spot.upper() : spot.lower();
  }
  Layers layers() const { return {upper == Kind::kFolder, lower == Kind::kFolder, real}; }
};

constexpr unsigned kFollow = 1;      // also follows a link at the end
constexpr unsigned kDescriptor = 2;  // the path may be empty and then means the descriptor itself

// Resolves a path. Returns -ENOENT if a parent folder does not exist. If only the last name is
// missing, returns 0, and `place` is a place that does not exist.
int Resolve(int folder, const char* path, unsigned how, Place& place);

// Returns a counter that all processes with this folder of changes share. Bump() increments it for
// every change that may affect where a path leads. It is 0 before the first change.
uint64_t Generation();
void Bump();
// Call in a forked child. Drops locks that other threads held when the process was forked.
void ForgetLocksOfPaths();

// Returns whether the path can be passed to the kernel without checking the layers.
bool Passes(const char* path, bool writes);
// Converts a path in the upper layer to the program's path, in place. Returns the new length.
size_t WithoutChanges(char* path, size_t length);
// Stores the path of an open file or folder as the program sees it. Returns the length or -errno.
long PathOf(int fd, char* to, size_t size);

// Checks whether the permissions of the parent folder allow creating or removing the place.
int MayChange(Place& place);
// Creates the folder (the first `length` characters) in the upper layer if needed.
int EnsureFolder(Spot& spot, size_t length);
// Prepares the creation of a place: checks that it does not exist, and creates its folder in the
// upper layer.
int PrepareNew(Place& place);
// Copies a place to the upper layer. `content` is false if the file will be truncated.
int CopyUp(Place& place, bool content);
// Copies a place to the upper layer before a change. A change of the content requires permission to
// write. Only the owner may change the status.
enum class Change { kContent, kStatus };
int PrepareChange(Place& place, Change change);

int MakeFolder(Place& place, mode_t mode);
int RemoveFile(Place& place);
int RemoveFolder(Place& place);
// Does not follow links at the end of `from` and `to`. `flags` are those of renameat2.
int RenamePlace(Place& from, Place& to, unsigned flags);

// Returns the name of the folder of changes if `folder` contains it, otherwise "". Listings leave
// it out.
const char* HiddenIn(const char* folder);

// All names in a folder as the program sees them.
class Listing {
 public:
  Listing() = default;
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  int Read(Spot& folder, const Layers& layers);
  // Reads one folder directly from the kernel.
  int ReadPlain(const char* folder);
  struct Name {
    uint64_t inode;
    unsigned short length;
    unsigned char type;
    const char* text;
  };
  bool Next(Name& name);
  size_t at() const { return at_; }
  void Seek(size_t at) { at_ = at <= used_ ? at : used_; }
  // Returns whether there are no names except . and ..
  bool IsEmpty();

 private:
  bool Add(uint64_t inode, unsigned char type, const char* name, size_t length);
  char* data_ = nullptr;
  size_t used_ = 0, capacity_ = 0, at_ = 0;
};

// Copies a folder (both paths as the kernel sees them) with modes, times and links. The target must
// not exist. With `into_existing`, it may exist; missing entries are added, and existing ones stay.
int CopyTree(const char* from, const char* to, bool into_existing);
// Removes a folder (its path as the kernel sees it) with its contents.
int RemoveTree(const char* folder);

}  // namespace vramscope::isolation
