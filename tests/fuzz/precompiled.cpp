// Of which CMake makes a precompiled header (precompiled.h).
