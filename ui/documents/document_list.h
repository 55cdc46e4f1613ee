// The documents of the window, in the order of their tabs. The list is never empty, and one of its
// documents is shown. Opening a document never replaces another; FindFile() finds a file that is
// already open. Only the most recently shown documents, and those whose results cannot be computed
// or read again, keep their results in memory.
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
  // Number of documents whose results stay in memory, besides the active document and its baseline.
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
  // The first document for which `is` returns true; null: none.
  Document* FindIf(const std::function<bool(const Document&)>& is);
  // The open document of this part of `file`; null: none, or the file has changed since.
  Document* FindFile(const std::string& file, const importers::OpenOptions& part,
                     const std::string& stamp);

  // Adds a document at the end. The active document stays active and becomes the opener, whose
  // pinned baseline the new document inherits. If kMost documents are open, the least recently
  // shown document that CanReload() is closed first.
  Document& Open(Source source);
  void Activate(DocumentId id);
  // Returns the document that is active afterwards: if `id` was active, the document shown before
  // it. If `id` is the only document, opens an empty plan with its settings.
  DocumentId Close(DocumentId id);
  void Move(size_t from, size_t to);  // moves a tab
  // The document in the tab after (`direction` > 0) or before the active tab; wraps around.
  DocumentId Neighbour(int direction) const;
  // The document that was active before the present one.
  DocumentId ShownBefore() const;
  // Documents to release: they have a result, were not shown recently, and can be reloaded.
  std::vector<DocumentId> ToRelease() const;

 private:
  Document& Add(Source source);

  std::vector<std::unique_ptr<Document>> documents_;
  std::vector<DocumentId> recent_;  // most recently shown first
  size_t active_ = 0;
  DocumentId next_ = 1;
};

}  // namespace vramscope::ui
