// The containers of the caching-allocator model: lists of the blocks of a segment, a tree of free
// blocks by (size, address), and a table of blocks in use by address. They are intrusive and reuse
// nodes. So after warm-up, a malloc or free takes only a few short steps, and allocates nothing on
// the heap. Internal to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::allocator {

struct SegmentNode;

enum class BlockUse : uint8_t {
  kFree,      // in the FreeTree of its stream and pool
  kLive,      // in the LiveTable, as are pending blocks
  kPending,   // freed, but another stream may still use it
  kUnmapped,  // addresses of an expandable segment without memory
};

struct BlockNode {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested = 0;     // requested size of a live block
  BlockNode* prev = nullptr;  // neighbours within the segment, by address
  BlockNode* next = nullptr;
  SegmentNode* segment = nullptr;
  BlockNode* left = nullptr;  // links of the FreeTree
  BlockNode* right = nullptr;
  // For a free block: how often its pool had been searched when it was freed. For a pending block:
  // its ticket.
  uint64_t since = 0;
  uint32_t priority = 0;
  BlockUse use = BlockUse::kFree;
};

// Allocates nodes in chunks and reuses them. A node's address never changes.
template <class Node>
class NodePool {
 public:
  Node* Take() {
    if (free_.empty()) Grow();
    Node* n = free_.back();
    free_.pop_back();
    return n;
  }
  void Give(Node* n) { free_.push_back(n); }

 private:
  static constexpr size_t kChunk = 1024;
  void Grow() {
    chunks_.push_back(std::make_unique<Node[]>(kChunk));
    free_.reserve(chunks_.size() * kChunk);
    for (size_t i = kChunk; i-- > 0;) free_.push_back(&chunks_.back()[i]);
  }
  std::vector<std::unique_ptr<Node[]>> chunks_;
  std::vector<Node*> free_;
};

// A treap of free blocks, ordered by (size, address). Expected O(log n), without rebalancing. The
// priorities come from a generator with a fixed seed, so equal histories take equal time.
class FreeTree {
 public:
  void Insert(BlockNode* node) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    node->priority = random_;
    BlockNode** link = &root_;
    while (*link != nullptr && (*link)->priority >= node->priority) {
      link = Less(node, *link) ? &(*link)->left : &(*link)->right;
    }
    // Splits the subtree at `link` by the node's key. The two parts become the node's children.
    BlockNode* rest = *link;
    BlockNode** less = &node->left;
    BlockNode** greater = &node->right;
    while (rest != nullptr) {
      if (Less(rest, node)) {
        *less = rest;
        less = &rest->right;
        rest = *less;
      } else {
        *greater = rest;
        greater = &rest->left;
        rest = *greater;
      }
    }
    *less = nullptr;
    *greater = nullptr;
    *link = node;
  }

  // The node must be in the tree.
  void Erase(BlockNode* node) {
    BlockNode** link = &root_;
    while (*link != node) link = Less(node, *link) ? &(*link)->left : &(*link)->right;
    EraseAt(link);
  }

  // Removes and returns the smallest block of at least `size` bytes, or null. Among blocks of equal
  // size, it is the block with the lowest address.
  BlockNode* TakeBestFit(uint64_t size) {
    BlockNode** best = nullptr;
    for (BlockNode** link = &root_; *link != nullptr;) {
      if ((*link)->size >= size) {
        best = link;
        link = &(*link)->left;
      } else {
        link = &(*link)->right;
      }
    }
    if (best == nullptr) return nullptr;
    BlockNode* node = *best;
    EraseAt(best);
    return node;
  }

  // Returns the first block at or after (size, address), or null. This function and the next two do
  // not remove the block that they return.
  BlockNode* LowerBound(uint64_t size, uint64_t address) const {
    BlockNode* best = nullptr;
    for (BlockNode* n = root_; n != nullptr;) {
      const bool below = n->size != size ? n->size < size : n->address < address;
      if (!below) best = n;
      n = below ? n->right : n->left;
    }
    return best;
  }
  BlockNode* Next(const BlockNode* node) const { return LowerBound(node->size, node->address + 1); }
  BlockNode* Last() const {
    BlockNode* n = root_;
    while (n != nullptr && n->right != nullptr) n = n->right;
    return n;
  }
  BlockNode* Previous(const BlockNode* node) const {
    BlockNode* best = nullptr;
    for (BlockNode* n = root_; n != nullptr;) {
      const bool below = Less(n, node);
      if (below) best = n;
      n = below ? n->right : n->left;
    }
    return best;
  }

  bool empty() const { return root_ == nullptr; }

  // Visits the blocks in order. `visit` must not change the tree.
  template <class Visit>
  void ForEach(Visit visit) const {
    std::vector<BlockNode*> open;
    for (BlockNode* n = root_; n != nullptr || !open.empty();) {
      for (; n != nullptr; n = n->left) open.push_back(n);
      n = open.back();
      open.pop_back();
      visit(n);
      n = n->right;
    }
  }

 private:
  static bool Less(const BlockNode* a, const BlockNode* b) {
    return a->size != b->size ? a->size < b->size : a->address < b->address;
  }
  // Replaces the node at `link` by the merge of its children.
  static void EraseAt(BlockNode** link) {
    BlockNode* l = (*link)->left;
    BlockNode* r = (*link)->right;
    while (l != nullptr && r != nullptr) {
      if (l->priority >= r->priority) {
        *link = l;
        link = &l->right;
        l = *link;
      } else {
        *link = r;
        link = &r->left;
        r = *link;
      }
    }
    *link = l != nullptr ? l : r;
  }

  BlockNode* root_ = nullptr;
  uint32_t random_ = 0x9e3779b9;
};

// A hash table of the blocks in use, keyed by address. It uses linear probing and is at most half
// full. Removal moves later entries back, so there are no tombstones.
class LiveTable {
 public:
  LiveTable() : slots_(kFirstSize) {}

  void Insert(BlockNode* block) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Place(block);
    ++count_;
  }

  // Returns null if no block in use begins at this address.
  BlockNode* Find(uint64_t address) const {
    const size_t mask = slots_.size() - 1;
    size_t i = Home(address);
    while (slots_[i].block != nullptr && slots_[i].address != address) i = (i + 1) & mask;
    return slots_[i].block;
  }
  BlockNode* Remove(uint64_t address) {
    const size_t mask = slots_.size() - 1;
    size_t i = Home(address);
    while (slots_[i].block != nullptr && slots_[i].address != address) i = (i + 1) & mask;
    BlockNode* found = slots_[i].block;
    if (found == nullptr) return nullptr;
    --count_;
    for (size_t j = (i + 1) & mask; slots_[j].block != nullptr; j = (j + 1) & mask) {
      const size_t home = Home(slots_[j].address);
      // Moves an entry back into the gap, unless the slot for its hash lies after the gap.
      if (((j - home) & mask) >= ((j - i) & mask)) {
        slots_[i] = slots_[j];
        i = j;
      }
    }
    slots_[i] = Slot{};
    return found;
  }

 private:
  struct Slot {
    uint64_t address = 0;
    BlockNode* block = nullptr;
  };
  static constexpr size_t kFirstSize = 1024;

  size_t Home(uint64_t address) const {
    return static_cast<size_t>(((address >> 9) * 0x9e3779b97f4a7c15u) >> 32) & (slots_.size() - 1);
  }
  void Place(BlockNode* block) {
    const size_t mask = slots_.size() - 1;
    size_t i = Home(block->address);
    while (slots_[i].block != nullptr) i = (i + 1) & mask;
    slots_[i] = {block->address, block};
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.block != nullptr) Place(s.block);
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace vramscope::allocator
