// What one frame of a call stack is a sign of: functions and files of PyTorch and of what is built
// on it, by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::inference {

// What one frame is a sign of.
enum Sign : uint32_t {
  kPythonFrame = 1 << 0,
  kForward = 1 << 1,
  kLoss = 1 << 2,
  kBackward = 1 << 3,
  kOptimizer = 1 << 4,
  kZeroGrad = 1 << 5,
  kData = 1 << 6,
  kSetup = 1 << 7,
  kEval = 1 << 8,
  kAccumulates = 1 << 9,
  kWorkspace = 1 << 10,
  kCommunication = 1 << 11,
  kLoadsState = 1 << 12,
  kApply = 1 << 13,       // Module._apply, which moves parameters, then buffers
  kModuleCode = 1 << 14,  // a forward that says where a module is
  kOp = 1 << 15,
  kStorageOnly = 1 << 16,   // of an op: asks for storage for the op around it
  kOurOp = 1 << 17,         // "aten::mm" in the "file" that is its module's path
  kNode = 1 << 19,          // of autograd's graph
  kFunctional = 1 << 18,    // torch.nn.functional, which a loss uses too
  kOfTorch = 1 << 20,       // Python of torch itself
  kKvCache = 1 << 21,       // holds keys and values between requests
  kCompiled = 1 << 22,      // runs a graph of torch.compile: the frames inside are where code was
  kCapture = 1 << 23,       // into a CUDA graph
  kReplica = 1 << 24,       // DataParallel's copies of parameters
  kFlatBuffer = 1 << 25,    // one buffer for many parameters or their gradients
  kOwnWorkspace = 1 << 26,  // a function that is called a workspace's
  kGenerates = 1 << 27,     // text, token by token: forwards inside are no training
  kSaves = 1 << 28,         // writes a checkpoint
  kLoads = 1 << 29,         // reads one
  kForwardMode = 1 << 30,   // a product with tangents (jvp): no backward, whatever it calls
};

// Of a frame of a `.py` file. `file` has forward slashes.
uint32_t PythonSigns(std::string_view function, std::string_view file);

// Of a frame of compiled code, as unwinding names it; or of a snapshot that vramscope wrote.
uint32_t NativeSigns(std::string_view name);

}  // namespace vramscope::inference
