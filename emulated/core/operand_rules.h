// Which words of a launch's parameters are addresses of memory, and what of that a kernel reads and
// writes: by its mangled name and the sizes of its parameters.
//
//   const OperandRules rules(mangled_name, parameter_sizes);
//   rules.Read(grid, blocks, parameters, &operands);  // of a launch
//
// A parameter whose type is a pointer to const is read. PyTorch's elementwise, reduce, foreach,
// concatenating and indexing kernels take structures that their names do not tell the fields of:
// the layouts are known here (those of torch 2.11), and looked at only where sizes and values say
// that they are those. What such a structure has left over from a launch before is left out. Of
// everything else each word is looked at, and what is done with it is not known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulated/core/activity.h"

namespace vramscope::emulated {

class OperandRules {
 public:
  OperandRules() = default;
  OperandRules(const char* mangled_name, std::vector<uint16_t> parameter_sizes);

  // Adds what may be addresses (whose memory they are in, if any, is not looked at). `parameters`:
  // as many as there are sizes.
  void Read(const Dim& grid, void** parameters, std::vector<Operand>* operands) const;

  // Lists of tensors, `most` of each, behind one another; which of them a launch works on is said
  // block by block of its grid.
  struct Lists {
    int count = 0;  // 0: there are none
    int most = 0;
    uint16_t steps = 0;   // where another list begins, which is read; 0: there is none
    uint16_t blocks = 0;  // where the number of each block's tensor lies
    Use uses[8] = {};
  };
  static constexpr int kBlocksOfLists = 320;  // of a grid, at most
  const Lists& lists() const { return lists_; }
  // Where the addresses of a launch with strides lie in its second parameter, behind the numbers of
  // how many tensors; 0 tensors: there are none.
  int StridedTensors(void** parameters) const;

 private:
  // Eight bytes at that offset of a parameter.
  struct Word {
    uint16_t parameter = 0, at = 0;
    Use use = Use::kUnknown;
  };
  bool Elementwise(const std::string& name);
  bool Strided(const std::string& name);
  bool Index(const std::string& name);
  bool Reduction(const std::string& name);
  bool Foreach(const std::string& function, const std::vector<std::string>& types);
  bool Concatenation(const std::string& function, const std::vector<std::string>& types);
  void Signature(const std::string& function, const std::vector<std::string>& types, size_t first);
  void AllWords(size_t parameter);

  void ReadLists(const Dim& grid, void** parameters, std::vector<Operand>* operands) const;
  bool ReadReduction(void** parameters, std::vector<Operand>* operands) const;
  bool ReadStrided(void** parameters, std::vector<Operand>* operands) const;

  std::vector<uint16_t> sizes_;
  std::vector<Word> words_;
  Lists lists_;
  int strided_ = 0;         // tensors of a kernel that was given strides; 0: it is none
  bool reduction_ = false;  // one structure, of which the end is known
  int concatenated_ = -1;   // the parameter that begins with as many addresses as the grid is high
};

}  // namespace vramscope::emulated
