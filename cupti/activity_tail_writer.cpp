#include "cupti/activity_tail_writer.h"

#include <cstring>
#include <new>

namespace vramscope::cupti {

using program::ActivityTailHeader;
using program::kActivityTailBytes;
using program::kTailNameBytes;
using program::kTailRows;
using trace::Activity;

ActivityTailHeader& ActivityTailWriter::header() const {
  return *std::launder(reinterpret_cast<ActivityTailHeader*>(file_.data()));
}
Activity* ActivityTailWriter::first() const {
  return std::launder(reinterpret_cast<Activity*>(file_.data() + sizeof(ActivityTailHeader)));
}

bool ActivityTailWriter::Create(const char* path, uint64_t rows, uint32_t names) {
  if (!file_.Create(path, kActivityTailBytes) || !file_.Reserve(kActivityTailBytes)) {
    file_.Close();
    return false;
  }
  new (file_.data())
      ActivityTailHeader{.row_bytes = sizeof(Activity), .first_row = rows, .first_name = names};
  rows_ = names_ = name_bytes_ = 0;
  return true;
}

bool ActivityTailWriter::Add(const Activity& activity, std::span<const std::string> names) {
  if (rows_ == kTailRows) return false;
  if (names_ < names.size()) {
    uint8_t* const begin = file_.data() + kActivityTailBytes - kTailNameBytes;
    size_t at = name_bytes_;
    for (size_t i = names_; i < names.size(); ++i) {
      const auto size = static_cast<uint32_t>(names[i].size());
      if (kTailNameBytes - at < sizeof size + size) return false;
      std::memcpy(begin + at, &size, sizeof size);
      std::memcpy(begin + at + sizeof size, names[i].data(), size);
      at += sizeof size + size;
    }
    header().names.fetch_add(names.size() - names_, std::memory_order_release);
    name_bytes_ = at;
    names_ = names.size();
  }
  new (first() + rows_) Activity(activity);
  header().rows.store(++rows_, std::memory_order_release);
  return true;
}

std::span<const Activity> ActivityTailWriter::rows() const { return {first(), rows_}; }

void ActivityTailWriter::Clear(uint64_t rows, uint32_t names) {
  // Stores in this order, so that no row is counted twice if the process dies between two stores.
  ActivityTailHeader& facts = header();
  facts.rows.store(0, std::memory_order_release);
  facts.names.store(0, std::memory_order_release);
  facts.first_row.store(rows, std::memory_order_release);
  facts.first_name.store(names, std::memory_order_release);
  rows_ = names_ = name_bytes_ = 0;
}

}  // namespace vramscope::cupti
