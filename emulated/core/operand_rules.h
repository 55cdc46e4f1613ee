// Finds which words in the parameters of a launch are memory addresses, and whether the kernel
// reads or writes there. Uses the kernel's mangled name and the sizes of its parameters.
//
//   const OperandRules rules(mangled_name, parameter_sizes);
//   rules.Read(grid, parameters, &operands);  // of a launch
//
// A parameter whose type is a pointer to const is read. PyTorch's elementwise, reduce, foreach,
// concatenating and indexing kernels take structures whose fields are not in the kernels' names.
// The layouts of these structures in torch 2.11 are known here, and used only if sizes and values
// match them. Values that an earlier launch left in such a structure are ignored. In all other
// parameters, every word may be an address, and its use is unknown.
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

  // Appends words that may be addresses. Does not check whether there is memory at these addresses.
  // `parameters` must have as many entries as the constructor's `parameter_sizes`.
  void Read(const Dim& grid, void** parameters, std::vector<Operand>* operands) const;

  // Consecutive lists of tensors, each with space for `most` tensors. A table says for each block
  // of the grid on which tensor the block works.
  struct Lists {
    int count = 0;  // 0: no lists
    int most = 0;
    uint16_t steps = 0;   // offset of another list, which is read; 0: none
    uint16_t blocks = 0;  // offset of the table with each block's tensor number
    Use uses[8] = {};
  };
  static constexpr int kBlocksOfLists = 320;  // maximum number of blocks in a grid
  const Lists& lists() const { return lists_; }
  // Returns the number of tensors in a launch with strides, or 0 for other launches. The tensors'
  // addresses follow the offset calculator in the second parameter.
  int StridedTensors(void** parameters) const;

 private:
  // Eight bytes at an offset in a parameter.
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
  int strided_ = 0;         // number of tensors of a kernel with strides; 0: another kernel
  bool reduction_ = false;  // the parameter is one structure whose end is known
  int concatenated_ = -1;   // the parameter that begins with one address per grid row; -1: none
};

}  // namespace vramscope::emulated
