#ifndef VRAMSCOPE_EMULATED_REDIRECT_CHANGES_H
#define VRAMSCOPE_EMULATED_REDIRECT_CHANGES_H

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "emulated/redirect/settings.h"

// The file system as a program sees it: what is outside (the lower layer, never written), and over
// it a folder of changes (the upper layer) in which what was changed lies under its whole path.
//
// In the upper layer a removed name is a symbolic link with a text of ours, and a folder that hides
// the outer one of its name has an empty file of a name of ours in it. Both work on any file
// system. Nothing here allocates but Listing and CopyTree; all functions answer 0 or -errno.
namespace vramscope::isolation {

// A path of the program's, absolute, without links, and where it lies in both layers; "" is the
// root. One buffer: the upper path is the lower one behind the folder of changes.
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
  // The length of the folder that the name of this length is in.
  size_t Parent(size_t length) const;
  const char* name() const { return text_ + prefix_ + (length_ == 0 ? 0 : Parent(length_) + 1); }
  // The spot of the first so many bytes while it lives.
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

// The layers that a folder is in.
struct Layers {
  bool upper = true, lower = true, real = false;
};

struct Place {
  Spot spot;
  Layers in;                 // the folder that it is in
  bool real = false;         // not isolated: in the lower layer alone
  bool slash = false;        // the path that was given ends with one
  Kind upper = Kind::kNone;  // in the folder of changes
  Kind lower = Kind::kNone;  // outside, where nothing in the upper layer hides it
  struct stat status;        // of what the program sees

  Kind seen() const {
    return upper == Kind::kRemoved ? Kind::kNone : upper != Kind::kNone ? upper : lower;
  }
  bool exists() const { return seen() != Kind::kNone; }
  // Where the kernel finds what the program sees.
  const char* visible() const {
    return !real && upper != Kind::kNone ? spot.upper() : spot.lower();
  }
  Layers layers() const { return {upper == Kind::kFolder, lower == Kind::kFolder, real}; }
};

constexpr unsigned kFollow = 1;      // a link at the end, too
constexpr unsigned kDescriptor = 2;  // the path may be empty: of the folder itself

// Finds what the path names. -ENOENT is of a folder on the way; what is not there itself is a place
// that does not exist.
int Resolve(int folder, const char* path, unsigned how, Place& place);

// Grows with every change that may change where a path leads; 0 until the first.
uint64_t Generation();

// Whether the path is the kernel's alone to answer, without a look at the layers.
bool Passes(const char* path, bool writes);
// A path of the upper layer becomes the program's, in place; the new length.
size_t WithoutChanges(char* path, size_t length);
// The file or folder that a descriptor is open on, as the program sees it; the length, or -errno.
long PathOf(int fd, char* to, size_t size);

// Before a change of what exists: whether the folder lets it be made or removed.
int MayChange(Place& place);
// The folder (the first so many bytes) is in the upper layer afterwards.
int EnsureFolder(Spot& spot, size_t length);
// For what is to be made: it does not exist, its folder is in the upper layer.
int PrepareNew(Place& place);
// What exists is in the upper layer afterwards; `content` is false where it is cut at once.
int CopyUp(Place& place, bool content);
// Copies up for a change by its path: of what is in it (a writer), or of its status (an owner).
enum class Change { kContent, kStatus };
int PrepareChange(Place& place, Change change);

int MakeFolder(Place& place, mode_t mode);
int RemoveFile(Place& place);
int RemoveFolder(Place& place);
// `from` and `to` were not followed. Flags are renameat2's.
int RenamePlace(Place& from, Place& to, unsigned flags);

// Every name of a folder as the program sees it.
class Listing {
 public:
  Listing() = default;
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  int Read(Spot& folder, const Layers& layers);
  // Of one folder of the kernel's.
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
  // Nothing but . and ..
  bool IsEmpty();

 private:
  bool Add(uint64_t inode, unsigned char type, const char* name, size_t length);
  char* data_ = nullptr;
  size_t used_ = 0, capacity_ = 0, at_ = 0;
};

// Copies a folder of the kernel's with modes, times and links, into one that is not there yet or,
// for `into_existing`, adds what is not there and hides nothing that is.
int CopyTree(const char* from, const char* to, bool into_existing);
// Removes a folder of the kernel's with all that is in it.
int RemoveTree(const char* folder);

}  // namespace vramscope::isolation

#endif  // VRAMSCOPE_EMULATED_REDIRECT_CHANGES_H
