#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox.h"

/// A system call with its arguments.
typedef struct {
  long number;
  /// `probe_own_process` stands for the number of the process that makes the call.
  uint64_t arguments[6];
} probe_call;

static const uint64_t probe_own_process = UINT64_MAX - 1;

typedef enum {
  probe_not_asked,
  probe_refused,
  probe_allowed,
} probe_verdict;

/// Asks the filter of a profile about calls. A process of its own makes each, and the filter answers instead of the kernel.
///
/// - Returns: false when the process did not get to the end, or a call reached the kernel.
bool probe_filter(sandbox_profile profile, const probe_call *_Nonnull calls, size_t count, probe_verdict *_Nonnull verdicts);

/// The signal that ends a confined process which makes a call of another architecture: of x32, or of i386. 0 where there is none.
int probe_foreign_call(bool is_x32);

/// The ways in which a process may change what is outside its store.
typedef enum {
  change_write,
  change_read_and_write,
  change_by_neither_mode,
  change_truncate_on_open,
  change_truncate_on_read,
  change_truncate_by_open2,
  change_creat,
  change_truncate,
  change_truncate_descriptor,
  change_allocate,
  change_append_file,
  change_create,
  change_create_unnamed,
  change_create_executable,
  change_rename,
  change_rename_into_store,
  change_rename_from_store,
  change_exchange,
  change_link,
  change_link_into_store,
  change_link_of_descriptor,
  change_symbolic_link,
  change_unlink,
  change_remove_folder,
  change_make_folder,
  change_make_pipe,
  change_make_socket,
  change_make_device,
  change_mode,
  change_mode_at,
  change_mode_of_descriptor,
  change_mode_of_path_descriptor,
  change_mode_with_flags,
  change_owner,
  change_owner_of_link,
  change_owner_at,
  change_owner_of_descriptor,
  change_owner_of_path_descriptor,
  change_attribute,
  change_attribute_of_link,
  change_attribute_of_descriptor,
  change_attribute_removed,
  change_times,
  change_times_at,
  change_times_of_descriptor,
  change_times_of_descriptor_to_now,
  change_utime,
  change_utimes,
  change_flags,
  change_by_handle,
  change_by_ring,
  change_copy,
  change_mount,
  change_count,
} probe_change;

/// The name of a change, for messages.
const char *_Nonnull probe_change_name(probe_change change);

/// Has a confined process for each change try it on `OUTSIDE/file`, `OUTSIDE/folder` and names beside them, which are made anew each time. The process may
/// read `OUTSIDE/file`.
///
/// - Parameters:
///   - landlock: the newest version of Landlock that it uses; 0 for none.
///   - store: a folder, which only a fetcher may use.
///   - results: 0 for a change that the kernel made, otherwise errno.
/// - Returns: what sandbox_confine returned, -1 when the process did not get that far.
int probe_changes(
    sandbox_profile profile, long landlock, const char *_Nonnull store, const char *_Nonnull outside, int *_Nonnull results);
