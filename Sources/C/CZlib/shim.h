// The C library's own module comes first: its types then are Glibc's, not copies that belong to this module.
#pragma clang module import SwiftGlibc
#include <zlib.h>
