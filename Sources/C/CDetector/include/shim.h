/// libmagic in a child process: the part of the detector that must be C, since nothing but C may run between `fork` and the end of the child.
///
/// The parent loads the database, then forks; the child keeps the parent's image and needs no executable, no second load and no start.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct magic_set;

enum {
  /// Bytes of a file that the child takes at most.
  detector_bytes_max = 4096,
  /// Bytes of a MIME name, its final zero included.
  detector_name_max = 128,
};

typedef struct {
  /// The flags of `magic_setflags` for the first question.
  int flags;
  /// Those for the second, over `text_bytes` bytes, which is asked where the first gives `unnamed`; 0 for no second one.
  int text_flags;
  uint32_t text_bytes;
} detector_question;

typedef enum {
  detector_named,
  /// The other end was gone before it took the question: another child may be asked.
  detector_gone,
  /// The child died of the question.
  detector_died,
  /// There is no answer yet.
  detector_silent,
  /// What came is no answer.
  detector_confused,
} detector_end;

typedef struct {
  detector_end end;
  /// Whether the child is confined by seccomp.
  bool is_confined;
  /// libmagic's MIME name where `end` is `detector_named`.
  char name[detector_name_max];
} detector_answer;

/// Forks a child that answers questions on the other end of a socket, until that is closed.
///
/// The child runs C alone and holds no descriptor but the socket. It ignores the signals of the terminal and of a service manager, uses at most
/// `cpu_ms` of processor time and `wait_ms` of time on a question, ends with the thread that started it, and may call the kernel for memory, time and its
/// socket only, where the kernel knows seccomp.
///
/// - Returns: the parent's end, close-on-exec, which is readable once there is an answer; -1 with errno when there is no socket or no process.
int detector_start(struct magic_set *_Nonnull cookie, int cpu_ms, int wait_ms, int32_t *_Nonnull child);

/// Asks a child for the MIME name of `count` bytes, `detector_bytes_max` at most; for one question at a time. Never blocks.
///
/// - Returns: false when that failed: the child has gone, or the system has no room. The child is to be ended.
bool detector_send(int socket, uint32_t serial, detector_question question, const void *_Nonnull bytes, size_t count);

/// Takes the answer to the question of a serial. Never blocks. A child that answered otherwise than `detector_named` or `detector_silent` is to be ended.
void detector_receive(int socket, uint32_t serial, detector_answer *_Nonnull answer);


/// The path of the database that libmagic was built with, whatever `MAGIC` and `HOME` say.
///
/// - Returns: `buffer`, or null where it cannot be told.
const char *_Nullable detector_database(char *_Nonnull buffer, size_t size);
