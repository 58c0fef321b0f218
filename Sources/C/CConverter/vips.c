#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vips.h"

#pragma mark The library

// The first version whose name this is, and which can block loaders, is 8.13.
static const char file_name[] = "libvips.so.42";

// Constants of libvips' headers, which are not needed to build.
enum { access_sequential = 1, fail_on_error = 2, size_down = 2, orientation_sideways = 5, interpretation_bw = 1, interpretation_srgb = 22 };

typedef struct VipsImage VipsImage;
typedef struct VipsArrayDouble VipsArrayDouble;

static struct {
  int (*vips_init)(const char *);
  const char *(*vips_version_string)(void);
  int (*vips_version)(int);
  void (*vips_block_untrusted_set)(int);
  void (*vips_operation_block_set)(const char *, int);
  void (*vips_concurrency_set)(int);
  void (*vips_cache_set_max)(int);
  void (*vips_vector_set_enabled)(int);
  const char *(*vips_error_buffer)(void);
  void (*vips_error_clear)(void);
  const char *(*vips_foreign_find_load_buffer)(const void *, size_t);
  VipsImage *(*vips_image_new_from_buffer)(const void *, size_t, const char *, ...);
  VipsImage *(*vips_image_copy_memory)(VipsImage *);
  int (*vips_image_get_width)(const VipsImage *);
  int (*vips_image_get_page_height)(VipsImage *);
  int (*vips_image_get_n_pages)(VipsImage *);
  int (*vips_image_get_bands)(const VipsImage *);
  int (*vips_image_get_orientation)(VipsImage *);
  int (*vips_image_hasalpha)(VipsImage *);
  int (*vips_thumbnail_buffer)(void *, size_t, VipsImage **, int, ...);
  int (*vips_colourspace)(VipsImage *, VipsImage **, int, ...);
  int (*vips_extract_band)(VipsImage *, VipsImage **, int, ...);
  int (*vips_min)(VipsImage *, double *, ...);
  int (*vips_flatten)(VipsImage *, VipsImage **, ...);
  int (*vips_jpegsave_buffer)(VipsImage *, void **, size_t *, ...);
  int (*vips_pngsave_buffer)(VipsImage *, void **, size_t *, ...);
  int (*vips_gifsave_buffer)(VipsImage *, void **, size_t *, ...);
  VipsArrayDouble *(*vips_array_double_newv)(int, ...);
  void (*vips_area_unref)(void *);
  void (*g_object_unref)(void *);
  void (*g_free)(void *);
} api;

#define name(symbol) {#symbol, (void **)&api.symbol}
static const struct {
  const char *symbol;
  void **place;
} names[] = {
    name(vips_init), name(vips_version_string), name(vips_version), name(vips_block_untrusted_set), name(vips_operation_block_set),
    name(vips_concurrency_set), name(vips_cache_set_max), name(vips_vector_set_enabled), name(vips_error_buffer), name(vips_error_clear), name(vips_foreign_find_load_buffer),
    name(vips_image_new_from_buffer), name(vips_image_copy_memory), name(vips_image_get_width), name(vips_image_get_page_height),
    name(vips_image_get_n_pages), name(vips_image_get_bands), name(vips_image_get_orientation), name(vips_image_hasalpha),
    name(vips_thumbnail_buffer), name(vips_colourspace), name(vips_extract_band), name(vips_min), name(vips_flatten), name(vips_jpegsave_buffer),
    name(vips_pngsave_buffer), name(vips_gifsave_buffer), name(vips_array_double_newv), name(vips_area_unref), name(g_object_unref), name(g_free),
};
#undef name

// The loaders of each converter_format: the class to allow, and the name of the loader from memory.
static const struct {
  const char *class, *loader;
} loaders[] = {
    [converter_jpeg] = {"VipsForeignLoadJpeg", "VipsForeignLoadJpegBuffer"}, [converter_png] = {"VipsForeignLoadPng", "VipsForeignLoadPngBuffer"},
    [converter_gif] = {"VipsForeignLoadNsgif", "VipsForeignLoadNsgifBuffer"}, [converter_webp] = {"VipsForeignLoadWebp", "VipsForeignLoadWebpBuffer"},
    [converter_heif] = {"VipsForeignLoadHeif", "VipsForeignLoadHeifBuffer"}, [converter_tiff] = {"VipsForeignLoadTiff", "VipsForeignLoadTiffBuffer"},
};
enum { format_count = sizeof loaders / sizeof *loaders };

// Whether memory may be written and run, which a service manager can forbid. libvips shrinks a photo by code that it makes, which takes two thirds of the time.
static bool may_make_code(void) {
  void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  munmap(page, 1);
  return true;
}

const char *converter_load(void) {
  static bool is_loaded;
  static char failure[256];
  if (is_loaded) return NULL;
  void *library = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return failure;
  }
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    // The functions of GLib are found as well: libvips depends on it.
    *names[index].place = dlsym(library, names[index].symbol);
    if (*names[index].place) continue;
    snprintf(failure, sizeof failure, "%s has no %s", file_name, names[index].symbol);
    return failure;
  }
  if (api.vips_init("attache") != 0) {
    snprintf(failure, sizeof failure, "%s", api.vips_error_buffer());
    return failure;
  }
  api.vips_block_untrusted_set(1);
  api.vips_operation_block_set("VipsForeignLoad", 1);
  for (int format = 0; format < format_count; format++) api.vips_operation_block_set(loaders[format].class, 0);
  api.vips_concurrency_set(1);
  if (!may_make_code()) api.vips_vector_set_enabled(0);
  // A picture comes once, and what was cached of one would be there when the next is decoded.
  api.vips_cache_set_max(0);
  is_loaded = true;
  return NULL;
}

const char *converter_version(void) { return api.vips_version_string(); }

#pragma mark A picture

typedef struct {
  const void *bytes;
  const converter_job *job;
  // Of one frame, as it is shown.
  int width, height;
  int frames;
} picture;

static void drop(VipsImage *image) {
  if (image) api.g_object_unref(image);
}

// Takes what libvips says of the last failure, without what a terminal would obey.
static void note_failure(converter_answer *answer) {
  const char *text = api.vips_error_buffer();
  size_t count = 0;
  for (; text[count] && text[count] != '\n' && count < sizeof answer->message - 1; count++)
    answer->message[count] = text[count] >= ' ' && text[count] <= '~' ? text[count] : '?';
  answer->message[count] = 0;
  api.vips_error_clear();
}

// Reads the header, which decodes no pixels.
static converter_end measure(picture *picture) {
  const converter_job *job = picture->job;
  const char *loader = api.vips_foreign_find_load_buffer(picture->bytes, job->bytes);
  if (!loader || strcmp(loader, loaders[job->format].loader) != 0) return converter_unreadable;
  bool has_frames = job->format == converter_webp || job->format == converter_gif;
  VipsImage *image =
      api.vips_image_new_from_buffer(picture->bytes, job->bytes, has_frames ? "[n=-1]" : "", "access", access_sequential, NULL);
  if (!image) return converter_unreadable;
  picture->width = api.vips_image_get_width(image);
  picture->height = api.vips_image_get_page_height(image);
  picture->frames = has_frames ? api.vips_image_get_n_pages(image) : 1;
  if (api.vips_image_get_orientation(image) >= orientation_sideways) {
    int width = picture->width;
    picture->width = picture->height;
    picture->height = width;
  }
  drop(image);
  if (picture->width < 1 || picture->height < 1 || picture->frames < 1) return converter_unreadable;
  uint64_t frame = (uint64_t)picture->width * (uint64_t)picture->height;
  return frame > job->source_pixels / (uint64_t)picture->frames ? converter_too_many_pixels : converter_made;
}

// The picture in memory or, if it has several frames, still to be decoded; turned as Exif says, in sRGB, and not larger than the scale says.
static VipsImage *thumbnail(const picture *picture, double scale, bool is_animated) {
  int width = fmax(1, floor(picture->width * scale)), height = fmax(1, floor(picture->height * scale));
  VipsImage *image = NULL;
  int status = api.vips_thumbnail_buffer(
      (void *)picture->bytes, picture->job->bytes, &image, width, "height", height, "size", size_down, "export_profile", "srgb", "fail_on",
      fail_on_error, "option_string", is_animated ? "[n=-1]" : "", NULL);
  if (status != 0) return NULL;
  VipsImage *plain = NULL;
  int space = api.vips_image_get_bands(image) < 3 ? interpretation_bw : interpretation_srgb;
  status = api.vips_colourspace(image, &plain, space, NULL);
  drop(image);
  if (status != 0) return NULL;
  if (is_animated) return plain;
  image = api.vips_image_copy_memory(plain);
  drop(plain);
  return image;
}

// Whether a pixel is transparent; -1 where that cannot be said.
static int is_transparent(VipsImage *image) {
  if (!api.vips_image_hasalpha(image)) return 0;
  VipsImage *alpha = NULL;
  if (api.vips_extract_band(image, &alpha, api.vips_image_get_bands(image) - 1, NULL) != 0) return -1;
  double least = 0;
  int status = api.vips_min(alpha, &least, NULL);
  drop(alpha);
  return status != 0 ? -1 : least < converter_opaque;
}

static int save_jpeg(VipsImage *image, vips_result *result) {
  // vips_flatten takes the last band for transparency, whatever it is.
  if (!api.vips_image_hasalpha(image))
    return api.vips_jpegsave_buffer(image, &result->bytes, &result->count, "Q", converter_quality, "strip", 1, NULL);
  // White; one number is for all bands.
  VipsArrayDouble *white = api.vips_array_double_newv(1, 255.0);
  VipsImage *flat = NULL;
  int status = api.vips_flatten(image, &flat, "background", white, NULL);
  api.vips_area_unref(white);
  if (status == 0) status = api.vips_jpegsave_buffer(flat, &result->bytes, &result->count, "Q", converter_quality, "strip", 1, NULL);
  drop(flat);
  return status;
}

static bool encode(const picture *picture, double scale, bool is_animated, vips_result *result) {
  VipsImage *image = thumbnail(picture, scale, is_animated);
  if (!image) return false;
  int transparency = 0;
  switch ((converter_format)picture->job->format) {
    case converter_jpeg: result->format = converter_jpeg; break;
    case converter_png: result->format = converter_png; break;
    case converter_gif: result->format = converter_gif; break;
    case converter_webp:
    case converter_heif:
    case converter_tiff:
      transparency = is_animated ? 0 : is_transparent(image);
      result->format = is_animated ? converter_gif : transparency == 0 ? converter_jpeg : converter_png;
      break;
  }
  int status = transparency < 0 ? -1 : 0;
  if (status == 0 && result->format == converter_jpeg) status = save_jpeg(image, result);
  if (status == 0 && result->format == converter_png)
    status = api.vips_pngsave_buffer(image, &result->bytes, &result->count, "strip", 1, NULL);
  if (status == 0 && result->format == converter_gif) status = api.vips_gifsave_buffer(image, &result->bytes, &result->count, NULL);
  drop(image);
  return status == 0;
}

// The first scale: what the sides and the pixels of the result allow.
static double first_scale(const picture *picture) {
  const converter_job *job = picture->job;
  double longest = fmax(picture->width, picture->height), pixels = (double)picture->width * picture->height;
  return fmin(1, fmin(job->result_side / longest, sqrt(job->result_pixels / pixels)));
}

void vips_convert(const void *bytes, const converter_job *job, converter_answer *answer, vips_result *result) {
  picture picture = {.bytes = bytes, .job = job};
  // A picture that was made leaves its warnings.
  api.vips_error_clear();
  answer->end = job->format < format_count ? measure(&picture) : converter_unreadable;
  if (answer->end != converter_made) return note_failure(answer);
  bool is_animated = picture.frames > 1 && picture.frames <= converter_frames_max;
  double scale = first_scale(&picture);
  for (int attempt = 0; attempt < converter_attempts_max; attempt++) {
    bool is_made = encode(&picture, scale, is_animated, result);
    // libvips gives the half of a JPEG that is there, with a warning, which it keeps with its errors.
    if (is_made && job->is_damaged && *api.vips_error_buffer()) {
      vips_free(result);
      answer->end = converter_unreadable;
      return note_failure(answer);
    }
    if (is_made && result->count <= job->result_bytes) {
      answer->format = result->format;
      answer->bytes = result->count;
      return;
    }
    size_t count = result->count;
    vips_free(result);
    if (is_animated && job->format == converter_webp) {
      is_animated = false;
      api.vips_error_clear();
    } else if (!is_made) {
      answer->end = converter_unreadable;
      return note_failure(answer);
    } else {
      // The bytes shrink with the pixels, and somewhat less.
      scale *= fmin(0.75, 0.95 * sqrt((double)job->result_bytes / (double)count));
    }
  }
  answer->end = converter_too_large;
}

void vips_free(vips_result *result) {
  if (result->bytes) api.g_free(result->bytes);
  result->bytes = NULL;
  result->count = 0;
}
