// The documents of the window, in the order of their tabs. The list is never empty, and one of its
// documents is shown. Opening a document never replaces another; FindFile() finds a file that is
// already open. Results stay in memory for the most recently shown documents, and for documents
// whose results could not be computed or read again.
//
//   DocumentList documents;                                // one empty plan
//   Document& file = documents.Open({.kind = SourceKind::kFile, .file = "/a.trace"});
//   documents.Activate(file.id());
//   for (DocumentId id : documents.ToRelease()) documents.Find(id)->Release();
//
// Not thread-safe. A Document keeps its address until it is closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ui/documents/document.h"

namespace vramscope::ui {

class DocumentList {
 public:
  // The number of results that stay in memory in addition to the active document's result and
  // baseline.
  static constexpr size_t kLoadedDocuments = 3;
  static constexpr size_t kMost = 64;

  DocumentList();

  size_t size() const { return documents_.size(); }
  Document& at(size_t place) { return *documents_[place]; }
  const Document& at(size_t place) const { return *documents_[place]; }
  Document& active() { return *documents_[active_]; }
  const Document& active() const { return *documents_[active_]; }
  size_t active_place() const { return active_; }
  Document* Find(DocumentId id);        // null: closed
  size_t PlaceOf(DocumentId id) const;  // size() if it is not open
  // Returns the first document for which `is` returns true, or null if there is none.
  Document* FindIf(const std::function<bool(const Document&)>& is);
  // Returns the document that shows this part of `file`. Null: there is none, or the file has
  // changed since (`stamp`).
  Document* FindFile(const std::string& file, const importers::OpenOptions& part,
                     const std::string& stamp);

  // Adds a document at the end. The active document stays active. It becomes the new document's
  // `opener`, and the new document inherits its pinned baseline. If kMost documents are open, first
  // closes the least recently shown document for which CanReload() is true.
  Document& Open(Source source);
  void Activate(DocumentId id);
  // Closes `id` and returns the document that is then active. If `id` was active, that is the
  // document shown before it. If `id` was the only document, it is a new empty plan with the same
  // settings.
  DocumentId Close(DocumentId id);
  void Move(size_t from, size_t to);  // moves a tab
  // Returns the document of the next tab (`direction` > 0) or the previous tab. Wraps around.
  DocumentId Neighbour(int direction) const;
  // Returns the document that was active before the active one.
  DocumentId ShownBefore() const;
  // Returns the documents whose results can be released: they were not shown recently, and the
  // results can be loaded again.
  std::vector<DocumentId> ToRelease() const;

 private:
  Document& Add(Source source);

  std::vector<std::unique_ptr<Document>> documents_;
  std::vector<DocumentId> recent_;  // most recently shown first
  size_t active_ = 0;
  DocumentId next_ = 1;
};

}  // namespace vramscope::ui
