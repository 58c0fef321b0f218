// Converts pictures with libvips, in one process for each processor: what attache --convert does with a picture, without fetching, checking or storing it.
//
//   convert SIDE PROCESSES FOLDER OUT < payloads
//
// Each line of input has a member image with a URL, whose last part is the name of a file in FOLDER. The result is written to OUT under that name. The declarations
// are libvips' own, so that its headers need not be installed.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct VipsImage VipsImage;
int vips_init(const char *);
void vips_concurrency_set(int);
void vips_cache_set_max(int);
void vips_block_untrusted_set(int);
int vips_thumbnail_buffer(void *, size_t, VipsImage **, int, ...);
int vips_colourspace(VipsImage *, VipsImage **, int, ...);
int vips_jpegsave_buffer(VipsImage *, void **, size_t *, ...);
const char *vips_error_buffer(void);
void g_object_unref(void *);
void g_free(void *);

enum { size_down = 2, fail_on_error = 2, space_srgb = 22, quality = 85 };

static void require(int is_right, const char *what) {
  if (is_right) return;
  fprintf(stderr, "convert: %s: %s\n", what, vips_error_buffer());
  exit(1);
}

static void convert(const char *folder, const char *name, const char *out, int side) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  struct stat status;
  require(file && fstat(fileno(file), &status) == 0, path);
  size_t count = (size_t)status.st_size, made = 0;
  void *bytes = malloc(count), *result = NULL;
  require(bytes && fread(bytes, 1, count, file) == count, path);
  fclose(file);
  VipsImage *image = NULL, *plain = NULL;
  require(
      vips_thumbnail_buffer(bytes, count, &image, side, "height", side, "size", size_down, "export_profile", "srgb", "fail_on", fail_on_error, NULL) == 0
          && vips_colourspace(image, &plain, space_srgb, NULL) == 0
          && vips_jpegsave_buffer(plain, &result, &made, "Q", quality, "strip", 1, NULL) == 0,
      name);
  snprintf(path, sizeof path, "%s/%s", out, name);
  file = fopen(path, "wb");
  require(file && fwrite(result, 1, made, file) == made && fclose(file) == 0, path);
  g_free(result);
  g_object_unref(plain);
  g_object_unref(image);
  free(bytes);
}

int main(int count, char **words) {
  if (count != 5) return 64;
  int side = atoi(words[1]), processes = atoi(words[2]);
  char **names = NULL, *line = NULL;
  size_t room = 0, lines = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *url = strstr(line, "\"image\":\""), *end = url ? strchr(url + 9, '"') : NULL, *start = NULL;
    if (end) *end = 0, start = strrchr(url, '/');
    if (!start) return 65;
    names = realloc(names, (lines + 1) * sizeof *names);
    names[lines++] = strdup(start + 1);
  }
  for (int process = 0; process < processes; process++) {
    if (fork() != 0) continue;
    require(vips_init("convert") == 0, "libvips");
    vips_block_untrusted_set(1);
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    for (size_t index = (size_t)process; index < lines; index += (size_t)processes) convert(words[3], names[index], words[4], side);
    exit(0);
  }
  int status, failed = 0;
  while (wait(&status) > 0) failed |= status != 0;
  return failed;
}
