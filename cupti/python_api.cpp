#include "cupti/python_api.h"

#include <dlfcn.h>

namespace vramscope::cupti {
namespace {

template <typename Function>
void Find(const char* name, Function& function, bool& complete) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  complete &= function != nullptr;
}

PythonApi Look() {
  PythonApi a;
  Find("_Py_NoneStruct", a.none, a.complete);
  Find("PyExc_RuntimeError", a.runtime_error, a.complete);
  Find("Py_IncRef", a.IncRef, a.complete);
  Find("Py_DecRef", a.DecRef, a.complete);
  Find("PyObject_Type", a.TypeOf, a.complete);
  Find("PyObject_GetAttr", a.GetAttr, a.complete);
  Find("PyObject_CallObject", a.CallObject, a.complete);
  Find("PyObject_CallFunctionObjArgs", a.CallFunctionObjArgs, a.complete);
  Find("PyObject_CallMethodObjArgs", a.CallMethodObjArgs, a.complete);
  Find("PyObject_IsInstance", a.IsInstance, a.complete);
  Find("PyObject_IsTrue", a.IsTrue, a.complete);
  Find("PyObject_GetIter", a.GetIter, a.complete);
  Find("PyIter_Next", a.Next, a.complete);
  Find("PyObject_Free", a.Free, a.complete);
  Find("PyLong_AsLongLong", a.AsLongLong, a.complete);
  Find("PyLong_AsUnsignedLongLong", a.AsUnsignedLongLong, a.complete);
  Find("PyLong_FromLong", a.FromLong, a.complete);
  Find("PyLong_FromUnsignedLongLong", a.FromUnsignedLongLong, a.complete);
  Find("PyUnicode_InternFromString", a.InternFromString, a.complete);
  Find("PyUnicode_AsUTF8AndSize", a.AsUtf8, a.complete);
  Find("PyBytes_AsStringAndSize", a.AsBytes, a.complete);
  Find("PyDict_Next", a.DictNext, a.complete);
  Find("PyList_Size", a.ListSize, a.complete);
  Find("PyList_GetItem", a.ListItem, a.complete);
  Find("PyTuple_Size", a.TupleSize, a.complete);
  Find("PyTuple_GetItem", a.TupleItem, a.complete);
  Find("PyType_GetFlags", a.TypeFlags, a.complete);
  Find("PyType_FromSpec", a.TypeFromSpec, a.complete);
  Find("PyType_GenericAlloc", a.TypeAlloc, a.complete);
  Find("PyCode_Addr2Line", a.LineOf, a.complete);
  Find("PyErr_Occurred", a.ErrorOccurred, a.complete);
  Find("PyErr_Clear", a.ErrorClear, a.complete);
  Find("PyErr_SetString", a.ErrorSet, a.complete);
  return a;
}

PythonFrames LookForFrames() {
  PythonFrames f;
  Find("Py_IsInitialized", f.IsInitialized, f.complete);
  Find("PyGILState_GetThisThreadState", f.StateOfThread, f.complete);
  Find("PyGILState_Ensure", f.Lock, f.complete);
  Find("PyGILState_Release", f.Unlock, f.complete);
  Find("PyEval_GetFrame", f.Innermost, f.complete);
  Find("PyFrame_GetBack", f.CallerOf, f.complete);
  Find("PyFrame_GetCode", f.CodeOf, f.complete);
  Find("PyFrame_GetLineNumber", f.LineOf, f.complete);
  bool found = true;
  Find("Py_IsFinalizing", f.IsFinalizing, found);  // Python 3.13
  if (!found) Find("_Py_IsFinalizing", f.IsFinalizing, f.complete);
  Find("PyGC_Disable", f.DisableCollector, found);
  Find("PyGC_Enable", f.EnableCollector, found);
  return f;
}

}  // namespace

const PythonFrames& PythonFrames::The() {
  static const PythonFrames frames = LookForFrames();
  return frames;
}

const PythonApi& PythonApi::The() {
  static const PythonApi api = Look();
  return api;
}

}  // namespace vramscope::cupti
