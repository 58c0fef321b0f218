/// Child processes that run C alone, without a new program: what the detector and the converter have in common. A child keeps its parent's image, so it
/// needs no executable, and holds no descriptor but its socket.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

enum {
  /// The child's one descriptor. Its messages keep their bounds (SOCK_SEQPACKET).
  child_socket = 3,
};

#if defined(__x86_64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define child_arch AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define child_arch AUDIT_ARCH_AARCH64
#endif

/// Opens what a child's memory is measured by: to be called before the process is confined to other files, if it is.
void child_prepare(void);

/// Forks a child that calls `run` and ends. It ignores the signals of the terminal and of a service manager, leaves no core, ends with the thread that
/// started it, and may map `memory` bytes beside its parent's.
///
/// - Returns: the parent's end of the socket, close-on-exec; -1 with errno when there is no socket or no process.
int child_start(const char *_Nonnull name, uint64_t memory, void (*_Nonnull run)(void *_Nullable), void *_Nullable context, int32_t *_Nonnull child);

/// Confines a child to system calls. `calls` decides on the number of a call, which is loaded already; a call of another architecture ends the child.
///
/// - Returns: false where the kernel declines.
bool child_confine(const struct sock_filter *_Nonnull calls, size_t count);

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
