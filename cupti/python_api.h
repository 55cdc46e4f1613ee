// Declares the part of Python's C API that python_marks.cpp, stacks.cpp and call_site.cpp use. The
// functions are found by name in the process, so one library works with every Python from 3.8 on
// and needs no headers. All functions and constants are in the stable ABI or unchanged since 3.3.
//
//   const PythonApi& api = PythonApi::The();
//   if (!api.complete) return 0;
//
// Call all functions with the interpreter's lock held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::cupti {

struct PyObject;  // opaque: used only through the API

struct PyMethodDef {
  const char* name;
  void* function;
  int flags;
  const char* text;
};
enum : int { kNoArguments = 0x04, kOneArgument = 0x08, kFastCall = 0x80 };

struct PyTypeSlot {
  int slot;
  void* function;
};
enum : int { kSlotDealloc = 52 };
struct PyTypeSpec {
  const char* name;
  int basic_bytes, item_bytes;
  unsigned flags;
  PyTypeSlot* slots;
};

// Flags of PyType_GetFlags for int, list, tuple, bytes, str, dict and their subclasses.
inline constexpr unsigned long kIsInt = 1ul << 24, kIsList = 1ul << 25, kIsTuple = 1ul << 26,
                               kIsBytes = 1ul << 27, kIsText = 1ul << 28, kIsDict = 1ul << 29;

struct PythonApi {
  bool complete = true;
  PyObject* none = nullptr;
  PyObject** runtime_error = nullptr;  // the class RuntimeError

  void (*IncRef)(PyObject*) = nullptr;
  void (*DecRef)(PyObject*) = nullptr;
  PyObject* (*TypeOf)(PyObject*) = nullptr;
  PyObject* (*GetAttr)(PyObject*, PyObject*) = nullptr;
  PyObject* (*CallObject)(PyObject*, PyObject*) = nullptr;
  PyObject* (*CallFunctionObjArgs)(PyObject*, ...) = nullptr;
  PyObject* (*CallMethodObjArgs)(PyObject*, PyObject*, ...) = nullptr;
  int (*IsInstance)(PyObject*, PyObject*) = nullptr;
  int (*IsTrue)(PyObject*) = nullptr;
  PyObject* (*GetIter)(PyObject*) = nullptr;
  PyObject* (*Next)(PyObject*) = nullptr;
  void (*Free)(void*) = nullptr;
  long long (*AsLongLong)(PyObject*) = nullptr;
  unsigned long long (*AsUnsignedLongLong)(PyObject*) = nullptr;
  PyObject* (*FromLong)(long) = nullptr;
  PyObject* (*FromUnsignedLongLong)(unsigned long long) = nullptr;
  PyObject* (*InternFromString)(const char*) = nullptr;
  const char* (*AsUtf8)(PyObject*, std::ptrdiff_t*) = nullptr;
  int (*AsBytes)(PyObject*, char**, std::ptrdiff_t*) = nullptr;
  int (*DictNext)(PyObject*, std::ptrdiff_t*, PyObject**, PyObject**) = nullptr;
  std::ptrdiff_t (*ListSize)(PyObject*) = nullptr;
  PyObject* (*ListItem)(PyObject*, std::ptrdiff_t) = nullptr;
  std::ptrdiff_t (*TupleSize)(PyObject*) = nullptr;
  PyObject* (*TupleItem)(PyObject*, std::ptrdiff_t) = nullptr;
  unsigned long (*TypeFlags)(PyObject*) = nullptr;
  PyObject* (*TypeFromSpec)(PyTypeSpec*) = nullptr;
  PyObject* (*TypeAlloc)(PyObject*, std::ptrdiff_t) = nullptr;
  int (*LineOf)(PyObject*, int) = nullptr;  // arguments: a code object and an instruction
  PyObject* (*ErrorOccurred)() = nullptr;
  void (*ErrorClear)() = nullptr;
  void (*ErrorSet)(PyObject*, const char*) = nullptr;

  static const PythonApi& The();
};

// The functions that read a thread's frames, in Python 3.9 and later (call_site.h). `complete` is
// false in Python 3.8 and in a process without Python.
struct PythonFrames {
  bool complete = true;

  int (*IsInitialized)() = nullptr;
  int (*IsFinalizing)() = nullptr;
  // Returns the thread's state, or null without Python. Callable without the interpreter's lock.
  void* (*StateOfThread)() = nullptr;
  // Take and release the interpreter's lock. A thread may take it several times.
  int (*Lock)() = nullptr;
  void (*Unlock)(int before) = nullptr;
  PyObject* (*Innermost)() = nullptr;  // a borrowed reference; null: the thread runs no Python
  PyObject* (*CallerOf)(PyObject* frame) = nullptr;
  PyObject* (*CodeOf)(PyObject* frame) = nullptr;
  int (*LineOf)(PyObject* frame) = nullptr;
  // Return whether the garbage collector was enabled before. These pointers are null in Python 3.9,
  // where reading a frame creates no object and so cannot start the collector.
  int (*DisableCollector)() = nullptr;
  int (*EnableCollector)() = nullptr;

  static const PythonFrames& The();
};

}  // namespace vramscope::cupti
