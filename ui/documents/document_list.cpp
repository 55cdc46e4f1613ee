#include "ui/documents/document_list.h"

#include <algorithm>
#include <utility>

namespace vramscope::ui {
namespace {

bool SamePart(const importers::OpenOptions& a, const importers::OpenOptions& b) {
  return a.device == b.device && a.first_entry == b.first_entry && a.last_entry == b.last_entry &&
         a.from_ns == b.from_ns && a.to_ns == b.to_ns && a.infer == b.infer;
}

}  // namespace

DocumentList::DocumentList() { recent_.push_back(Add({}).id()); }

Document& DocumentList::Add(Source source) {
  documents_.push_back(std::make_unique<Document>(next_++, std::move(source)));
  return *documents_.back();
}

Document* DocumentList::Find(DocumentId id) {
  return FindIf([id](const Document& document) { return document.id() == id; });
}

Document* DocumentList::FindIf(const std::function<bool(const Document&)>& is) {
  for (const auto& document : documents_)
    if (is(*document)) return document.get();
  return nullptr;
}

size_t DocumentList::PlaceOf(DocumentId id) const {
  const auto found = std::ranges::find(documents_, id, [](const auto& d) { return d->id(); });
  return static_cast<size_t>(found - documents_.begin());
}

Document* DocumentList::FindFile(const std::string& file, const importers::OpenOptions& part,
                                 const std::string& stamp) {
  return FindIf([&](const Document& document) {
    return document.source.kind == SourceKind::kFile && document.source.file == file &&
           document.source.stamp == stamp && SamePart(document.source.part, part);
  });
}

Document& DocumentList::Open(Source source) {
  if (documents_.size() >= kMost) {
    for (size_t i = recent_.size(); i-- > 1;) {
      const Document* document = Find(recent_[i]);
      if (document == nullptr || !document->CanReload()) continue;
      Close(recent_[i]);
      break;
    }
  }
  const DocumentId opener = active().id();
  Document& opened = Add(std::move(source));
  opened.opener = opener;
  opened.config = active().config;
  const Session& shown = active().session;
  if (!shown.partial()) opened.session.SetPrevious(shown.shown());
  if (shown.baseline() != nullptr && !shown.baseline_for_this_only())
    opened.session.SetBaseline(shown.baseline(), shown.baseline_file());
  recent_.push_back(opened.id());
  return opened;
}

void DocumentList::Activate(DocumentId id) {
  const size_t place = PlaceOf(id);
  if (place >= documents_.size()) return;
  active_ = place;
  active().unseen = false;
  std::erase(recent_, id);
  recent_.insert(recent_.begin(), id);
}

DocumentId DocumentList::Close(DocumentId id) {
  const size_t place = PlaceOf(id);
  if (place >= documents_.size()) return active().id();
  const DocumentId shown = active().id();
  DocumentId next = shown;
  if (id == shown) {
    const Document& closing = active();
    if (documents_.size() == 1) {
      const run::RunConfig config = closing.config;
      Document& empty = Add({});
      empty.config = config;
      recent_.push_back(next = empty.id());
    } else {
      next = ShownBefore();
    }
  }
  documents_.erase(documents_.begin() + static_cast<ptrdiff_t>(place));
  std::erase(recent_, id);
  for (const auto& document : documents_) {
    if (document->opener == id) document->opener = 0;
    if (document->undo.redo_into == id) document->undo.redo_into = 0;
  }
  Activate(next);
  return next;
}

void DocumentList::Move(size_t from, size_t to) {
  if (from >= documents_.size() || to >= documents_.size() || from == to) return;
  const DocumentId shown = active().id();
  std::unique_ptr<Document> moved = std::move(documents_[from]);
  documents_.erase(documents_.begin() + static_cast<ptrdiff_t>(from));
  documents_.insert(documents_.begin() + static_cast<ptrdiff_t>(to), std::move(moved));
  active_ = PlaceOf(shown);
}

DocumentId DocumentList::Neighbour(int direction) const {
  const size_t count = documents_.size();
  return documents_[(active_ + (direction > 0 ? 1 : count - 1)) % count]->id();
}

DocumentId DocumentList::ShownBefore() const {
  return recent_.size() > 1 ? recent_[1] : Neighbour(1);
}

std::vector<DocumentId> DocumentList::ToRelease() const {
  std::vector<DocumentId> out;
  size_t kept = 0;
  for (const DocumentId id : recent_) {
    const Document& document = *documents_[PlaceOf(id)];
    if (&document == &active() || document.session.shown() == nullptr) continue;
    if (++kept > kLoadedDocuments && document.CanReload()) out.push_back(id);
  }
  return out;
}

}  // namespace vramscope::ui
