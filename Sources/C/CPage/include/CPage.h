/// The parts of a preview's page, as the files in Sources/ToolsCommand/Preview/Page have them.
///
/// `#embed` takes the compiler no time; text of this length in Swift does.
#pragma once

#include <stddef.h>

/// The template, the style sheet and the script. Each text lives as long as the process.
const char *_Nonnull page_template(size_t *_Nonnull length);
const char *_Nonnull page_style(size_t *_Nonnull length);
const char *_Nonnull page_script(size_t *_Nonnull length);
