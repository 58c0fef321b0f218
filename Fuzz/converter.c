// Decodes and converts a picture as the converter's child does, with libvips of the system. libFuzzer finds what crashes, leaks no answer, or breaks the limits.
//
// The first three bytes choose the longest side, the most pixels and the most bytes of the result; the fourth chooses the format.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"
#include "vips.h"

int LLVMFuzzerInitialize(int *count, char ***words) {
  (void)count, (void)words;
  const char *failure = converter_load();
  if (failure) {
    fprintf(stderr, "%s\n", failure);
    exit(69);
  }
  return 0;
}

static void require(int is_right, const char *what) {
  if (is_right) return;
  fprintf(stderr, "broken: %s\n", what);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 5) return 0;
  // A copy of its own, so that the address sanitizer sees a read beyond its end.
  size_t count = size - 4;
  uint8_t *bytes = malloc(count);
  if (!bytes) return 0;
  memcpy(bytes, data + 4, count);
  converter_job job = {
      .format = data[3] % (converter_tiff + 1),
      .bytes = count,
      .source_pixels = 4 << 20,
      .result_pixels = 1024 + 1024 * (uint64_t)data[1],
      .result_bytes = 256 + 512 * (uint64_t)data[2],
      .result_side = 1 + 4 * (uint32_t)data[0],
      .cpu_ms = 60000,
      .wait_ms = 60000,
      .is_damaged = data[3] >= 128,
  };
  converter_answer answer = {.end = converter_unreadable};
  vips_result result = {0};
  vips_convert(bytes, &job, &answer, &result);
  require(answer.end <= converter_too_large, "an end that is none");
  require(memchr(answer.message, 0, sizeof answer.message) != NULL, "a message without an end");
  if (answer.end == converter_made) {
    require(result.bytes && result.count > 0, "a result without bytes");
    require(result.count <= job.result_bytes, "a result beyond its bytes");
    require(answer.format == converter_jpeg || answer.format == converter_png || answer.format == converter_gif, "a result of another format");
  } else {
    require(!result.bytes, "a result that was not made");
  }
  vips_free(&result);
  free(bytes);
  return 0;
}
