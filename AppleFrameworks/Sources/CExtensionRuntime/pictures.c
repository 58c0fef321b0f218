#include "pictures.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// libvips' C interface, and the numbers of its enumerations (https://www.libvips.org/API/8.14/).
typedef void VipsImage;
enum { VIPS_INTERPRETATION_sRGB = 22, VIPS_FORMAT_UCHAR = 0, VIPS_SIZE_DOWN = 2, G_LOG_LEVEL_WARNING = 1 << 4 };

// Each function of libvips that is used, with its type.
#define FUNCTIONS(F)                                                                          \
  F(int, vips_init, (const char *))                                                           \
  F(void, vips_concurrency_set, (int))                                                        \
  F(void, vips_cache_set_max, (int))                                                          \
  F(VipsImage *, vips_image_new_from_buffer, (const void *, size_t, const char *, ...))       \
  F(VipsImage *, vips_image_new_from_memory, (const void *, size_t, int, int, int, int))      \
  F(int, vips_image_write_to_buffer, (VipsImage *, const char *, void **, size_t *, ...))     \
  F(void *, vips_image_write_to_memory, (VipsImage *, size_t *))                              \
  F(int, vips_thumbnail_buffer, (const void *, size_t, VipsImage **, int, ...))               \
  F(int, vips_colourspace, (VipsImage *, VipsImage **, int, ...))                             \
  F(int, vips_cast, (VipsImage *, VipsImage **, int, ...))                                    \
  F(int, vips_addalpha, (VipsImage *, VipsImage **, ...))                                     \
  F(int, vips_copy, (VipsImage *, VipsImage **, ...))                                         \
  F(int, vips_image_get_width, (const VipsImage *))                                           \
  F(int, vips_image_get_height, (const VipsImage *))                                          \
  F(int, vips_image_get_bands, (const VipsImage *))                                           \
  F(int, vips_image_get_n_pages, (VipsImage *))                                               \
  F(int, vips_image_get_orientation, (VipsImage *))                                           \
  F(int, vips_image_hasalpha, (VipsImage *))                                                  \
  F(int, vips_image_get_string, (const VipsImage *, const char *, const char **))             \
  F(void, vips_image_set_int, (VipsImage *, const char *, int))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)
static void (*g_object_unref)(void *);
static void (*g_free)(void *);
static unsigned (*g_log_set_handler)(const char *, int, void (*)(const char *, int, const char *, void *), void *);
static bool is_loaded;

static void ignore(const char *domain, int level, const char *message, void *context) { (void)domain, (void)level, (void)message, (void)context; }

static void load(void) {
  void *vips = dlopen("libvips.so.42", RTLD_NOW | RTLD_LOCAL);
  void *object = dlopen("libgobject-2.0.so.0", RTLD_NOW | RTLD_LOCAL), *glib = dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!vips || !object || !glib) return;
  g_object_unref = dlsym(object, "g_object_unref");
  g_free = dlsym(glib, "g_free");
  g_log_set_handler = dlsym(glib, "g_log_set_handler");
  bool is_complete = g_object_unref && g_free && g_log_set_handler;
#define LOOK_UP(result, name, parameters) is_complete = is_complete && (name = dlsym(vips, #name));
  FUNCTIONS(LOOK_UP)
  if (!is_complete || vips_init("extension") != 0) return;
  // libvips warns about every fault of a damaged picture, on standard error.
  g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, ignore, NULL);
  vips_concurrency_set(1);
  // What an extension has decoded must not remain in memory.
  vips_cache_set_max(0);
  is_loaded = true;
}

bool runtime_has_codec(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded;
}

// Returns the type of what a loader of libvips reads; null for a format that iOS does not read.
static const char *type_of(const VipsImage *image, runtime_picture picture) {
  static const struct {
    const char *loader, *type;
  } types[] = {
      {"jpeg", "public.jpeg"}, {"png", "public.png"},  {"gif", "com.compuserve.gif"}, {"webp", "org.webmproject.webp"},
      {"heif", "public.heic"}, {"tiff", "public.tiff"},
  };
  const char *loader = NULL;
  if (vips_image_get_string(image, "vips-loader", &loader) != 0 || !loader) return NULL;
  if (strncmp(loader, "heif", 4) == 0 && picture.count > 12 && memcmp((const char *)picture.bytes + 8, "avi", 3) == 0) return "public.avif";
  for (size_t index = 0; index < sizeof types / sizeof *types; index++)
    if (strncmp(loader, types[index].loader, strlen(types[index].loader)) == 0) return types[index].type;
  return strncmp(loader, "magick", 6) == 0 && picture.count > 2 && memcmp(picture.bytes, "BM", 2) == 0 ? "com.microsoft.bmp" : NULL;
}

static void page_option(runtime_picture picture, char option[32]) {
  option[0] = 0;
  if (picture.page > 0) snprintf(option, 32, "[page=%d]", picture.page);
}

static VipsImage *open_picture(runtime_picture picture) {
  if (!runtime_has_codec()) return NULL;
  char option[32];
  page_option(picture, option);
  VipsImage *image = vips_image_new_from_buffer(picture.bytes, picture.count, option, NULL);
  if (image && type_of(image, picture)) return image;
  if (image) g_object_unref(image);
  return NULL;
}

bool runtime_read_header(runtime_picture picture, runtime_header *header) {
  VipsImage *image = open_picture(picture);
  if (!image) return false;
  int pages = vips_image_get_n_pages(image);
  *header = (runtime_header){
      .type = type_of(image, picture),
      .width = vips_image_get_width(image),
      .height = vips_image_get_height(image),
      .pages = pages,
      .has_alpha = vips_image_hasalpha(image) != 0,
      .orientation = vips_image_get_orientation(image),
  };
  g_object_unref(image);
  return true;
}

// Replaces an image by the result of an operation.
static VipsImage *replace(VipsImage *image, int failure, VipsImage *result) {
  g_object_unref(image);
  return failure == 0 ? result : NULL;
}

// Computes the pixels, and releases the image.
static uint8_t *pixels_of(VipsImage *image, int *width, int *height) {
  VipsImage *next = NULL;
  if (image) image = replace(image, vips_colourspace(image, &next, VIPS_INTERPRETATION_sRGB, NULL), next);
  if (image) image = replace(image, vips_cast(image, &next, VIPS_FORMAT_UCHAR, NULL), next);
  if (image && vips_image_get_bands(image) == 3) image = replace(image, vips_addalpha(image, &next, NULL), next);
  if (!image) return NULL;
  *width = vips_image_get_width(image);
  *height = vips_image_get_height(image);
  size_t count = 0;
  bool fits = vips_image_get_bands(image) == 4 && (int64_t)*width * *height <= 1 << 28;
  // libvips' memory is that of malloc: since GLib 2.46, g_malloc is malloc.
  uint8_t *pixels = fits ? vips_image_write_to_memory(image, &count) : NULL;
  g_object_unref(image);
  return pixels;
}

uint8_t *runtime_decode(runtime_picture picture, int *width, int *height) { return pixels_of(open_picture(picture), width, height); }

uint8_t *runtime_thumbnail(runtime_picture picture, int side, bool rotates, int *width, int *height) {
  VipsImage *image = open_picture(picture), *result = NULL;
  if (!image) return NULL;
  g_object_unref(image);
  char option[32];
  page_option(picture, option);
  int failure = vips_thumbnail_buffer(
      picture.bytes, picture.count, &result, side, "height", side, "size", VIPS_SIZE_DOWN, "no_rotate", !rotates, "option_string", option, NULL);
  return failure == 0 ? pixels_of(result, width, height) : NULL;
}

void *runtime_encode(const uint8_t *pixels, int width, int height, int orientation, const char *suffix, size_t *encoded) {
  if (!runtime_has_codec()) return NULL;
  VipsImage *image = vips_image_new_from_memory(pixels, (size_t)width * (size_t)height * 4, width, height, 4, VIPS_FORMAT_UCHAR), *copy = NULL;
  if (!image) return NULL;
  image = replace(image, vips_copy(image, &copy, "interpretation", VIPS_INTERPRETATION_sRGB, NULL), copy);
  if (!image) return NULL;
  if (orientation != 1) vips_image_set_int(image, "orientation", orientation);
  void *buffer = NULL;
  bool is_done = vips_image_write_to_buffer(image, suffix, &buffer, encoded, NULL) == 0;
  g_object_unref(image);
  if (is_done) return buffer;
  if (buffer) g_free(buffer);
  return NULL;
}
