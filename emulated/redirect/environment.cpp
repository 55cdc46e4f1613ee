#include "emulated/redirect/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace vramscope::isolation {
namespace {

constexpr size_t kMaxDifferences = 64;
constexpr size_t kKeptText = 131'072;
char kept_text[kKeptText];
char* kept[kMaxDifferences];  // NAME=value
size_t unfreed_count;

// Variables that are lists of libraries. vramscope's entries come first, then the program's.
struct List {
  const char* name;   // includes the "="
  const char* ours;   // text that shows that vramscope's library is in the list
  const char* value;  // the value that the launcher set
};
List lists[] = {{"LD_PRELOAD=", "libvramscope-isolation.so", nullptr},
                {"LD_AUDIT=", "libvramscope-", nullptr}};

bool Has(const char* entry, const char* name) { return strncmp(entry, name, strlen(name)) == 0; }

const char* Find(char* const* environment, const char* name) {
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    if (Has(*entry, name)) return *entry;
  return nullptr;
}

// Returns whether both entries set the same variable.
bool SameName(const char* a, const char* b) {
  const size_t length = strcspn(a, "=");
  return strncmp(a, b, length) == 0 && b[length] == '=';
}

// Returns whether only the launcher may set the variable. The program can change all others, but
// cannot remove them.
bool IsFixed(const char* entry) {
  return Has(entry, "VRAMSCOPE_ISOLATION") || Has(entry, "VRAMSCOPE_NO_NETWORK=");
}

bool IsMissing(char* const* given) {
  for (const List& list : lists) {
    if (list.value == nullptr) continue;
    const char* entry = Find(given, list.name);
    if (entry == nullptr || strstr(entry, list.ours) == nullptr) return true;
  }
  for (size_t i = 0; i < unfreed_count; ++i) {
    if (!IsFixed(kept[i])) continue;
    bool found = false;
    for (char* const* entry = given; entry != nullptr && *entry != nullptr && !found; ++entry)
      found = strcmp(*entry, kept[i]) == 0;
    if (!found) return true;
  }
  return false;
}

// Returns whether the variable makes a process the warm process (vramscope/warm.py). The forks of
// the warm process must not pass such variables on to processes that they start.
bool IsOfTheServer(const char* entry) {
  return Has(entry, "VRAMSCOPE_PROGRAM_SERVE=") || Has(entry, "VRAMSCOPE_PROGRAM_MODULES=");
}

}  // namespace

void KeepEnvironment() {
  size_t used = 0;
  unfreed_count = 0;
  for (List& list : lists) list.value = nullptr;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (IsOfTheServer(*entry)) continue;
    const bool ours = Has(*entry, "VRAMSCOPE_") || Has(*entry, "GLIBC_TUNABLES=");
    List* list = nullptr;
    for (List& one : lists)
      if (Has(*entry, one.name) && strstr(*entry, one.ours) != nullptr) list = &one;
    const size_t size = strlen(*entry) + 1;
    if ((!ours && list == nullptr) || used + size > kKeptText || unfreed_count == kMaxDifferences)
      continue;
    char* own = kept_text + used;
    memcpy(own, *entry, size);
    used += size;
    if (list != nullptr) {
      list->value = own + strlen(list->name);
    } else {
      kept[unfreed_count++] = own;
    }
  }
}

size_t EntriesOf(char* const* given) {
  size_t count = 0;
  while (given != nullptr && given[count] != nullptr) ++count;
  return count + kMaxDifferences + sizeof lists / sizeof lists[0] + 1;
}

char* const* Complete(char* const* given, char** out, char* text) {
  if (!IsMissing(given)) return given;
  size_t count = 0, used = 0;
  for (char* const* entry = given; entry != nullptr && *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const List& list : lists)
      replaced = replaced || (list.value != nullptr && Has(*entry, list.name));
    for (size_t i = 0; i < unfreed_count && !replaced; ++i)
      replaced = IsFixed(kept[i]) && SameName(kept[i], *entry);
    if (!replaced) out[count++] = *entry;
  }
  for (const List& list : lists) {
    if (list.value == nullptr) continue;
    const char* theirs = Find(given, list.name);
    if (theirs != nullptr) theirs += strlen(list.name);
    if (theirs != nullptr && strstr(theirs, list.ours) != nullptr) {
      out[count++] = const_cast<char*>(theirs) - strlen(list.name);
      continue;
    }
    const size_t needed =
        strlen(list.name) + strlen(list.value) + 2 + (theirs != nullptr ? strlen(theirs) : 0);
    if (used + needed > kEnvironmentText) theirs = nullptr;
    char* own = text + used;
    if (used + needed > kEnvironmentText) continue;
    strcpy(own, list.name);
    strcat(own, list.value);
    if (theirs != nullptr && theirs[0] != 0) {
      strcat(own, ":");
      strcat(own, theirs);
    }
    used += strlen(own) + 1;
    out[count++] = own;
  }
  for (size_t i = 0; i < unfreed_count; ++i) {
    bool there = false;
    for (char* const* entry = given; entry != nullptr && *entry != nullptr && !there; ++entry)
      there = !IsFixed(kept[i]) && SameName(kept[i], *entry);
    if (!there) out[count++] = kept[i];
  }
  out[count] = nullptr;
  return out;
}

void CompleteOwn() {
  if (!IsMissing(environ)) return;
  for (const List& list : lists) {
    if (list.value == nullptr) continue;
    const char* entry = Find(environ, list.name);
    if (entry != nullptr && strstr(entry, list.ours) != nullptr) continue;
    char name[32];
    const size_t length = strlen(list.name) - 1;
    memcpy(name, list.name, length);
    name[length] = 0;
    const char* theirs = entry != nullptr ? entry + length + 1 : "";
    char* value = static_cast<char*>(malloc(strlen(list.value) + strlen(theirs) + 2));
    if (value == nullptr) continue;
    strcpy(value, list.value);
    if (theirs[0] != 0) {
      strcat(value, ":");
      strcat(value, theirs);
    }
    setenv(name, value, 1);
    free(value);
  }
  for (size_t i = 0; i < unfreed_count; ++i) {
    char name[128];
    const size_t length = strcspn(kept[i], "=");
    if (length >= sizeof name) continue;
    memcpy(name, kept[i], length);
    name[length] = 0;
    setenv(name, kept[i] + length + 1, IsFixed(kept[i]) ? 1 : 0);
  }
}

}  // namespace vramscope::isolation
