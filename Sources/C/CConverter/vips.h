// What the child asks of libvips.
#pragma once

#include "shim.h"

// A result in memory that vips_free gives back.
typedef struct {
  void *bytes;
  size_t count;
  converter_format format;
} vips_result;

// Converts a picture in memory. What becomes of it is in `answer`, and in `result` where that is converter_made.
void vips_convert(const void *bytes, const converter_job *job, converter_answer *answer, vips_result *result);

void vips_free(vips_result *result);
