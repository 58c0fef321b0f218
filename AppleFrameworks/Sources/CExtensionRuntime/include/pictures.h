/// Pictures by libvips, which is loaded if it is installed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether libvips is installed.
bool runtime_has_codec(void);

/// The encoded bytes of a picture, and which of its pages is meant.
typedef struct {
  const void *_Nonnull bytes;
  size_t count;
  int page;
} runtime_picture;

/// What the header of a picture says.
typedef struct {
  /// The uniform type identifier.
  const char *_Nullable type;
  int width, height, pages;
  bool has_alpha;
  /// The orientation as Exif has it, from 1 to 8.
  int orientation;
} runtime_header;

/// Reads the header of a picture.
///
/// - Returns: false if the bytes are no picture of a format that iOS reads.
bool runtime_read_header(runtime_picture picture, runtime_header *_Nonnull header);

/// Decodes a picture. A pixel has four bytes: red, green, blue and alpha, which is not multiplied into the colours. The orientation is not applied.
///
/// - Returns: the pixels, which the caller frees; null on failure, and for more than 2^28 pixels.
uint8_t *_Nullable runtime_decode(runtime_picture picture, int *_Nonnull width, int *_Nonnull height);

/// Decodes a picture in such a way that no side has more than `side` pixels. A smaller picture keeps its size.
///
/// - Parameter rotates: whether the orientation is applied.
/// - Returns: the pixels as ``runtime_decode`` returns them.
uint8_t *_Nullable runtime_thumbnail(runtime_picture picture, int side, bool rotates, int *_Nonnull width, int *_Nonnull height);

/// Encodes pixels.
///
/// - Parameters:
///   - suffix: the format and its options as libvips writes them, such as `.jpg[Q=80]`.
///   - orientation: is written to the file if it is not 1.
/// - Returns: the bytes, which the caller frees; null on failure.
void *_Nullable runtime_encode(
    const uint8_t *_Nonnull pixels, int width, int height, int orientation, const char *_Nonnull suffix, size_t *_Nonnull encoded);
