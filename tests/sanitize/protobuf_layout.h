// Included before everything else where protobuf's headers are, in builds with ThreadSanitizer: its
// maps have two more members where a compiler says that it is on (map_field.h), and the library,
// which is the system's, was built without.
#pragma once

#include <cstddef>  // the C++ library asks for the same, and is to be told

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
