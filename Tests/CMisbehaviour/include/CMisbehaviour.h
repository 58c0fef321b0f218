/// Libraries that crash, hang or lie, as they might on a stranger's bytes or after these have taken them over. They are what the tests have in the place of
/// libmagic and libvips.
#pragma once

#include <stdint.h>

/// The start of bytes on which libmagic misbehaves in a process of the tests. A `misbehaviour` follows as one byte.
#define misbehaviour_mark "misbehav"

typedef enum {
  /// Dies of a signal.
  misbehaviour_crash = 'c',
  /// Uses the processor for ever.
  misbehaviour_loop = 'l',
  /// Waits for ever.
  misbehaviour_wait = 'w',
  /// Sends an answer to another question.
  misbehaviour_other_answer = 'a',
  /// Sends what is no answer.
  misbehaviour_garbage = 'g',
  /// Tries to open a socket, a file and a process. It dies if one of them succeeds.
  misbehaviour_escape = 'e',
  /// A converter says that it has made a JPEG, and sends other bytes.
  misbehaviour_wrong_type = 't',
  /// A converter announces more bytes than it may.
  misbehaviour_flood = 'f',
} misbehaviour;

/// Starts a child in the place of a converter: it takes pictures as a converter does, and misbehaves on each. It has no timers of its own.
///
/// - Returns: the parent's end of its socket; -1 with errno when there is no socket or no process.
int misbehaving_converter_start(misbehaviour misbehaviour, uint64_t memory, int32_t *_Nonnull child);
