/// Child processes that run C alone, without a new program: what the detector and the converter have in common. A child keeps its parent's image, so it
/// needs no executable, and holds no descriptor but its socket.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

enum {
  /// The child's one descriptor. Its messages keep their bounds (SOCK_SEQPACKET).
  child_socket = 3,
};

typedef enum {
  child_detector,
  child_converter,
  child_roles,
} child_role;

/// Starts a child that calls `run` and ends. It is confined (sandbox.h), ignores the signals of the terminal and of a service manager, leaves no core, ends
/// with the thread that forks it, and may map `memory` bytes beside its parent's.
///
/// A process that has called `child_ask` does not fork: it asks for a child of the role, for 2 s at most, and `run` is not used.
///
/// - Parameter run: gets `context` and whether the kernel confines the child to its system calls.
/// - Returns: this end of the socket, close-on-exec; -1 with errno when there is no socket or no process.
int child_start(
    child_role role, uint64_t memory, void (*_Nonnull run)(void *_Nullable, bool), void *_Nullable context, int32_t *_Nonnull child);

/// Ends a child, and waits for its end for `wait_ms` at most. An end takes a millisecond or two, or more where the child has much memory.
///
/// - Returns: the signal that it died of, 0 for none. `is_gone` is false where it is still to be waited for.
int child_stop(int socket, int32_t child, uint32_t wait_ms, bool *_Nonnull is_gone);

/// Whether a child that did not end at once has ended by now, or ends within `wait_ms`.
bool child_is_gone(int32_t child, uint32_t wait_ms);

/// A timer that fires once, after this many milliseconds; 0 for never.
static inline struct itimerval child_timer(uint32_t ms) {
  return (struct itimerval){.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
}

/// Gives a new child the default handlers and no blocked signal. It ignores what is meant for its group.
void child_set_signals(void);

/// How much memory this process has: a field of proc_pid_statm(5), counted from 1, in bytes. False when it cannot be read.
bool child_memory(int field, uint64_t *_Nonnull bytes);

#pragma mark Messages

/// Makes two connected sockets, which an exec closes. Their messages keep their bounds. As socketpair(2).
int child_pair(int ends[_Nonnull 2]);

/// Sends a message with a descriptor, -1 for none. Never waits. As sendmsg(2), without SIGPIPE.
long child_send(int socket, const void *_Nonnull bytes, size_t count, int descriptor);

/// Receives a message and its descriptor, -1 for none, which an exec closes. Returns what recvmsg(2) does, and repeats it after a signal.
long child_receive(int socket, void *_Null_unspecified bytes, size_t count, int flags, int *_Nonnull descriptor);

#pragma mark A process that starts the children of another

enum { child_start_detector = 1, child_start_converter, child_end };

/// What a confined process asks for.
typedef struct {
  uint32_t serial;
  /// One of `child_start_detector`, `child_start_converter` and `child_end`.
  uint32_t order;
  /// The child that is to be ended.
  int32_t child;
} child_request;

/// From now on, this process asks for its children over a socket whose messages keep their bounds.
void child_ask(int socket);

/// Takes the next request. Never blocks, and takes no descriptor.
///
/// - Returns: 1 for a request, 0 for none yet, -1 when the other end is closed or has sent something else.
int child_take(int socket, child_request *_Nonnull request);

/// Answers a request: with a child's number, a negative errno, or the signal that ended a child; and with the child's socket, -1 for none. Never blocks.
void child_answer(int socket, uint32_t serial, int32_t value, int descriptor);
