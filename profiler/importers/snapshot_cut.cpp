// Closes a truncated snapshot: open containers are closed from the inside out, and incomplete items
// (an entry, a frame, a key without its value) are dropped.
#include <algorithm>

#include "profiler/importers/snapshot_builder.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

// Returns whether a list may contain the item. The outermost dict has lists, and lists of lists.
bool Holds(Kind list, const Value& item) {
  switch (item.kind) {
    case Kind::kEntries:
      return list == Kind::kOpenList || list == Kind::kTrace;
    case Kind::kSegments:
      return list == Kind::kOpenList || list == Kind::kSegmentList;
    case Kind::kAnnotations:
      return list == Kind::kOpenList || list == Kind::kAnnotationList;
    case Kind::kOpenList:
    case Kind::kTrace:
      return list == Kind::kOpenList || list == Kind::kTraces;
    default:
      return false;
  }
}

bool IsDict(Kind kind) {
  return kind == Kind::kOpenDict || kind == Kind::kDict || kind == Kind::kSnapshot;
}

}  // namespace

// Adds the complete items to the list, up to the first incomplete one.
void SnapshotBuilder::CloseList(size_t list, size_t end) {
  for (size_t i = list + 1; i < end && Holds(stack_[list].kind, stack_[i]); ++i)
    if (!Extend(stack_[list], Items(stack_).subspan(i, 1))) return;
}

void SnapshotBuilder::CloseAtCut() {
  // Goes from the innermost mark outward. Lists receive their items. Other containers are dropped,
  // except the outermost one.
  for (; !marks_.empty() && marks_.back() > 1; marks_.pop_back()) {
    const size_t container = marks_.back() - 1;
    Value& open = stack_[container];
    const bool list = !IsDict(open.kind) && !open.is_rows();
    const bool rows = open.is_rows() && open.count() > 1;  // the last row is incomplete
    if (list) CloseList(container, stack_.size());
    if (rows) open = Value::Rows(open.kind, open.row(), open.count() - 1);
    stack_.resize(list || rows ? container + 1 : container);
  }
  const bool marked = !marks_.empty();
  marks_.clear();
  error_.clear();
  if (stack_.empty()) return;
  if (!IsDict(stack_[0].kind)) {
    if (marked) CloseList(0, stack_.size());
    stack_.resize(1);
    return;
  }
  // In the outermost dict, keys and values alternate. A value in place of a key is an item that was
  // not yet added to the list before it, because some writers use no marks. Without such a value,
  // the list is complete.
  size_t end = 1;
  Key last = Key::kNone;
  while (end < stack_.size() && stack_[end].kind == Kind::kString) {
    last = stack_[end].key;
    if (end + 1 == stack_.size()) break;
    end += 2;
    if (end < stack_.size() && stack_[end].kind != Kind::kString) {
      if (!stack_[end].is_rows()) CloseList(end - 1, end + 1);
      break;
    }
  }
  parts_.segments_cut = last == Key::kSegments;
  stack_.resize(end);
  if (end > 1) FillFrom(1, /*dict=*/true);
  stack_.resize(1);
}

}  // namespace vramscope::importers
