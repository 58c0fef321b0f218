/// What the kernel allows a process that reads strangers' bytes: which files it opens (Landlock), which system calls it makes (seccomp), and no capability.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sock_filter;

/// Who is confined. Each has its column in the list of calls.
typedef enum {
  sandbox_fetcher,
  sandbox_uploader,
  sandbox_detector,
  sandbox_converter,
  sandbox_profiles,
} sandbox_profile;

/// What `sandbox_confine` could not do, because the kernel or the container refuses it.
enum {
  /// To limit the files that the process opens: there is no Landlock. A process with a folder needs its second version (Linux 5.19).
  sandbox_open_files = 1,
  /// To limit its system calls: there is no seccomp.
  sandbox_open_calls = 2,
  /// To drop its capabilities.
  sandbox_open_capabilities = 4,
  /// To limit by Landlock which files it truncates: that needs its third version (Linux 6.2). The list of calls refuses every truncation by path.
  sandbox_open_truncation = 8,
  /// To end the start of threads: see `sandbox_end_threads`.
  sandbox_open_threads = 16,
};

/// Differences from production, for tests.
typedef struct {
  /// The newest version of Landlock to use; 0 for none.
  long landlock;
  /// The filter's answers to allowed calls and to refused ones, as SECCOMP_RET_…
  uint32_t allowed, refused;
} sandbox_test;

/// Confines the calling thread and what it starts. The process must have no other thread. Afterwards it has no capability and gets none, and
/// its memory has no variable of the environment.
///
/// - Parameters:
///   - store: the folder in which it may create, change and remove files; NULL for none.
///   - readable: the files that it may read, up to NULL. One that does not exist is left out. A file that is replaced by a rename is another file.
///   - test: NULL in production.
/// - Returns: what could not be done; 0 for nothing.
int sandbox_confine(
    sandbox_profile profile, const char *_Nullable store, const char *_Nullable const *_Nonnull readable, const sandbox_test *_Nullable test);

/// Forbids every thread of a confined fetcher to start another. Works once.
///
/// - Returns: false where the kernel declines.
bool sandbox_end_threads(void);

/// Has a child process confine itself as a fetcher does. The calling process must have no other thread.
///
/// - Parameter landlock: the newest version of Landlock to use.
/// - Returns: what could not be done; -1 when there is no process.
int sandbox_try_fetcher(long landlock);

/// Sets the effective capabilities of the calling thread alone, of those that it is permitted.
///
/// - Returns: those that it had; 0 as well where the kernel declines.
uint64_t sandbox_exchange_capabilities(uint64_t effective);

/// Writes the seccomp filter of a profile.
///
/// - Returns: the number of instructions, 0 if there is not enough room.
size_t sandbox_filter(sandbox_profile profile, const sandbox_test *_Nullable test, struct sock_filter *_Nonnull filter, size_t room);
