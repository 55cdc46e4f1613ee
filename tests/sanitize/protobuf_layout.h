// Included before protobuf's headers in builds with ThreadSanitizer. These headers give maps two
// more members under ThreadSanitizer (map_field.h), but the system's library was built without
// them.
#pragma once

#include <cstddef>  // must come first: the C++ library needs the macro that is undefined below

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
