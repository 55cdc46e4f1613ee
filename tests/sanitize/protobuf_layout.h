// Included before protobuf's headers in builds with ThreadSanitizer. Under ThreadSanitizer,
// the headers (map_field.h) give maps two more members, which the system's library does not
// have.
#pragma once

#include <cstddef>  // must come first: the C++ library needs the macro that is undefined below

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
