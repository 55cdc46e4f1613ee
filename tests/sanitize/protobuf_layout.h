// In builds with ThreadSanitizer, this is included before protobuf's headers. With ThreadSanitizer
// on, protobuf's maps have two more members (map_field.h), but the system's library was built
// without them.
#pragma once

#include <cstddef>  // the C++ library checks the same macro, and must see it

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
