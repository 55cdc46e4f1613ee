// A sign is what one frame of a call stack tells about the program's activity, such as a backward
// pass. It is concluded from the names of functions and files in PyTorch and in libraries based on
// it.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::inference {

// A frame can have several signs.
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
  kApply = 1 << 13,       // Module._apply, which moves first parameters, then buffers
  kModuleCode = 1 << 14,  // a frame of forward that names its module
  kOp = 1 << 15,
  kStorageOnly = 1 << 16,  // an op that only allocates storage for its enclosing op
  kOurOp = 1 << 17,        // "aten::mm", with its module's path as "file" (written by vramscope)
  kNode = 1 << 19,         // a node of autograd's graph
  kFunctional = 1 << 18,   // torch.nn.functional, which losses use too
  kOfTorch = 1 << 20,      // Python code of torch
  kKvCache = 1 << 21,      // keeps keys and values between requests
  // Runs a graph of torch.compile. Frames inside it name where code was defined, not its callers.
  kCompiled = 1 << 22,
  kCapture = 1 << 23,       // captures a CUDA graph
  kReplica = 1 << 24,       // DataParallel's copies of parameters
  kFlatBuffer = 1 << 25,    // one buffer for many parameters or for their gradients
  kOwnWorkspace = 1 << 26,  // a function outside of torch whose name contains "workspace"
  kGenerates = 1 << 27,  // generates text token by token: forward passes inside it are not training
  kSaves = 1 << 28,      // writes a checkpoint
  kLoads = 1 << 29,      // reads a checkpoint
  kForwardMode = 1 << 30,  // a product with tangents (jvp): not a backward pass, whatever it calls
};

// Signs of a frame in a `.py` file. `file` has forward slashes.
uint32_t PythonSigns(std::string_view function, std::string_view file);

// Returns the signs of a frame of compiled code. Its name is from unwinding or from vramscope.
uint32_t NativeSigns(std::string_view name);

}  // namespace vramscope::inference
