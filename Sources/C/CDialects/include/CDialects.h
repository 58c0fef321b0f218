/// The table of dialects that attache knows, as the file Sources/Attache/Dialects/dialects.json has it.
///
/// An array of 100 KB written in Swift takes the compiler 20 seconds; `#embed` takes it none.
#pragma once

#include <stddef.h>

/// The JSON text, which lives as long as the process.
const char *_Nonnull dialects_json(size_t *_Nonnull length);
