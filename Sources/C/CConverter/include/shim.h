/// Pictures that a child process converts with libvips: the part of the converter that must be C, since nothing but C may run between `fork` and the end of
/// the child.
///
/// libvips is loaded at run time, by the process that forks. The child keeps its parent's image, and opens no file.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /// Bytes of a message, its final zero included.
  converter_message_max = 160,
  /// Bytes of a result that one message over the socket holds at most.
  converter_part_max = 32 << 10,
  /// Free bytes that a converter keeps from one picture to the next at most.
  converter_kept_bytes = 64 << 20,
  /// Frames of an animation that stays one. An animation of more becomes its first frame.
  converter_frames_max = 500,
  /// Attempts to make a picture small enough.
  converter_attempts_max = 12,
  /// The quality of a JPEG.
  converter_quality = 85,
  /// A picture is transparent if one of its pixels has less than this of 255.
  converter_opaque = 250,
};

/// What the bytes of a picture are. The converter decodes nothing else.
typedef enum {
  converter_jpeg,
  converter_png,
  converter_gif,
  converter_webp,
  /// HEIC and AVIF.
  converter_heif,
  converter_tiff,
} converter_format;

typedef enum {
  converter_made,
  /// libvips cannot read the picture.
  converter_unreadable,
  /// The picture, with all its frames, has more pixels than `source_pixels`.
  converter_too_many_pixels,
  /// No size of the picture is small enough.
  converter_too_large,
} converter_end;

/// A picture to convert. Its bytes are those of a descriptor that goes with it.
typedef struct {
  uint32_t serial;
  uint32_t format;
  /// The bytes of the picture.
  uint64_t bytes;
  /// The most pixels, all frames together, that are decoded.
  uint64_t source_pixels;
  /// What the result may have at most.
  uint64_t result_pixels, result_bytes;
  uint32_t result_side;
  /// The processor time and the time that it may take, in milliseconds.
  uint32_t cpu_ms, wait_ms;
  /// Whether its structure is damaged. libvips may then not even warn of it.
  uint32_t is_damaged;
} converter_job;

/// What became of a picture. `bytes` bytes follow where `end` is `converter_made`, in messages of `converter_part_max` at most.
typedef struct {
  uint32_t serial;
  uint32_t end;
  /// One of `converter_jpeg`, `converter_png` and `converter_gif`.
  uint32_t format;
  /// Whether the child is confined by seccomp.
  uint32_t is_confined;
  uint64_t bytes;
  /// Why there is no result, for people; printable ASCII.
  char message[converter_message_max];
} converter_answer;

typedef enum {
  converter_received,
  /// There is nothing yet.
  converter_silent,
  /// The child has ended.
  converter_ended,
  /// What came is no answer.
  converter_confused,
} converter_news;

/// Loads libvips, allows it the six formats alone, and readies it for a fork: to be called once, while the process has one thread, or before others use GLib.
///
/// - Returns: NULL, or why that failed.
const char *_Nullable converter_load(void);

/// The version of libvips, such as 8.14.1; to be called after `converter_load`.
const char *_Nonnull converter_version(void);

/// Forks a child that converts one picture after the other, until the other end of the socket is closed.
///
/// The child runs C alone and holds no descriptor but the socket and a picture. It ignores the signals of the terminal and of a service manager, may map
/// `memory` bytes beside its parent's, ends with the thread that started it, and may call the kernel for memory, time, threads and its descriptors alone,
/// where the kernel knows seccomp.
///
/// - Returns: the parent's end, close-on-exec, which is readable once there is an answer; -1 with errno when there is no socket or no process.
int converter_start(uint64_t memory, int32_t *_Nonnull child);

/// Takes the answer to the picture of a serial. Never blocks.
converter_news converter_receive(int socket, uint32_t serial, converter_answer *_Nonnull answer);

/// Takes the next bytes of a result, `converter_part_max` at most. Never blocks.
converter_news converter_receive_part(int socket, void *_Nonnull bytes, size_t *_Nonnull count);

