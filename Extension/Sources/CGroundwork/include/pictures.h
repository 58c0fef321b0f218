/// Pictures by libvips, which is loaded if it is installed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether libvips is installed.
bool groundwork_has_codec(void);

/// Reads the size of a picture.
///
/// - Returns: false if the bytes are no picture that libvips can read.
bool groundwork_picture_size(const void *_Nonnull bytes, size_t count, int *_Nonnull width, int *_Nonnull height);

/// Encodes a picture anew.
///
/// - Parameter suffix: the format and its options as libvips writes them, such as `.jpg[Q=80]`.
/// - Returns: the bytes, which the caller frees; null on failure.
void *_Nullable groundwork_encode(const void *_Nonnull bytes, size_t count, const char *_Nonnull suffix, size_t *_Nonnull encoded);
