#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a picture shows, as libvips decodes it.
typedef struct {
  int32_t width, height, frames, bands;
  bool has_exif, has_profile;
  // The pixel that was asked for, from 0 to 255; the bands that it lacks are 0.
  double pixel[4];
} picture_probe;

// Decodes a picture in a child process, so that this process never runs libvips, which its converters could not survive.
//
// Returns false when libvips is missing or cannot read the picture.
bool picture_decode(const void *_Nonnull bytes, size_t count, int x, int y, picture_probe *_Nonnull probe);
