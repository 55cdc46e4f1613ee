// The documents of the window, in the order of their tabs. There is always one, and one of them is
// shown. Opening never replaces one; a file that is open is found. Few keep their results in
// memory: those that were shown last, and those that could not be had again.
//
//   DocumentList documents;                                // one empty plan
//   Document& file = documents.Open({.kind = SourceKind::kFile, .file = "/a.trace"});
//   documents.Activate(file.id());
//   for (DocumentId id : documents.ToRelease()) documents.Find(id)->Release();
//
// One thread. A Document stays where it is in memory until it is closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ui/documents/document.h"

namespace vramscope::ui {

class DocumentList {
 public:
  // That keep their result beside the one that is shown, and one that it is compared with.
  static constexpr size_t kKept = 3;
  static constexpr size_t kMost = 64;

  DocumentList();

  size_t size() const { return documents_.size(); }
  Document& at(size_t place) { return *documents_[place]; }
  const Document& at(size_t place) const { return *documents_[place]; }
  Document& active() { return *documents_[active_]; }
  const Document& active() const { return *documents_[active_]; }
  size_t active_place() const { return active_; }
  Document* Find(DocumentId id);        // null: it was closed
  size_t PlaceOf(DocumentId id) const;  // of one that is open
  // The first that `is`; null: none.
  Document* FindIf(const std::function<bool(const Document&)>& is);
  // The same part of the same file, which was not written since.
  Document* FindFile(const std::string& file, const importers::OpenOptions& part,
                     const std::string& stamp);

  // Behind the others; the one that is shown stays, and is its opener: what the user has pinned
  // there is its baseline, too. kMost: the one that was shown longest ago and CanReload() goes, if
  // there is one.
  Document& Open(Source source);
  void Activate(DocumentId id);
  // Gives who is shown now: the one that was shown before. The last one makes room for an empty
  // plan with its settings.
  DocumentId Close(DocumentId id);
  void Move(size_t from, size_t to);  // the tab
  // Around, from the one that is shown.
  DocumentId Neighbour(int direction) const;
  // That was shown before the one that is now.
  DocumentId ShownBefore() const;
  // Have a result, were not shown for long, and can be had again.
  std::vector<DocumentId> ToRelease() const;

 private:
  Document& Add(Source source);

  std::vector<std::unique_ptr<Document>> documents_;
  std::vector<DocumentId> recent_;  // shown last comes first
  size_t active_ = 0;
  DocumentId next_ = 1;
};

}  // namespace vramscope::ui
