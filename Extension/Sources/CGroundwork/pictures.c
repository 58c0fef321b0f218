#include "pictures.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// libvips' C interface (https://www.libvips.org/API/8.14/).
static int (*vips_init_)(const char *);
static void *(*new_from_buffer)(const void *, size_t, const char *, ...);
static int (*write_to_buffer)(void *, const char *, void **, size_t *, ...);
static int (*get_width)(const void *);
static int (*get_height)(const void *);
static void (*unref)(void *);
static void (*free_buffer)(void *);
static bool is_loaded;

static void load(void) {
  void *vips = dlopen("libvips.so.42", RTLD_NOW | RTLD_LOCAL);
  void *object = dlopen("libgobject-2.0.so.0", RTLD_NOW | RTLD_LOCAL), *glib = dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!vips || !object || !glib) return;
  vips_init_ = dlsym(vips, "vips_init");
  new_from_buffer = dlsym(vips, "vips_image_new_from_buffer");
  write_to_buffer = dlsym(vips, "vips_image_write_to_buffer");
  get_width = dlsym(vips, "vips_image_get_width");
  get_height = dlsym(vips, "vips_image_get_height");
  unref = dlsym(object, "g_object_unref");
  free_buffer = dlsym(glib, "g_free");
  is_loaded = vips_init_ && new_from_buffer && write_to_buffer && get_width && get_height && unref && free_buffer && vips_init_("extension") == 0;
}

bool groundwork_has_codec(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded;
}

bool groundwork_picture_size(const void *bytes, size_t count, int *width, int *height) {
  void *image = groundwork_has_codec() ? new_from_buffer(bytes, count, "", NULL) : NULL;
  if (!image) return false;
  *width = get_width(image);
  *height = get_height(image);
  unref(image);
  return true;
}

void *groundwork_encode(const void *bytes, size_t count, const char *suffix, size_t *encoded) {
  void *image = groundwork_has_codec() ? new_from_buffer(bytes, count, "", NULL) : NULL;
  if (!image) return NULL;
  void *buffer = NULL, *copy = NULL;
  if (write_to_buffer(image, suffix, &buffer, encoded, NULL) == 0 && (copy = malloc(*encoded))) memcpy(copy, buffer, *encoded);
  if (buffer) free_buffer(buffer);
  unref(image);
  return copy;
}
