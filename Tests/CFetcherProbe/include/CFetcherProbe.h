#pragma once

/// What a process that `fetcher_confine` holds tries.
typedef enum {
  probe_make_folder,
  probe_write_file,
  probe_move_file,
  probe_remove_file,
  probe_remove_folder,
  probe_move_folder,
  probe_read_readable,
  probe_read_beside,
  probe_write_readable,
  probe_read_other,
  probe_write_other,
  probe_list_other,
  probe_connect_ipv4,
  probe_connect_ipv6,
  probe_datagrams,
  probe_raw_socket,
  probe_multipath,
  probe_unix_socket,
  probe_stream_pair,
  probe_datagram_pair,
  probe_message_pair,
  probe_netlink_socket,
  probe_listen,
  probe_execute,
  probe_trace,
  probe_signal_parent,
  probe_signal_by_descriptor,
  probe_signal_itself,
  probe_schedule_parent,
  probe_limits_of_parent,
  probe_new_namespace,
  probe_clone_into_namespace,
  probe_fork,
  probe_thread,
  probe_thread_later,
  probe_filter_later,
  probe_little_memory,
  probe_much_memory,
  probe_hidden_memory,
  probe_many_descriptors,
  probe_environment,
  probe_count,
} probe;

/// Has a process of its own try everything, with 64 MiB of memory beside what it has, and 64 descriptors.
///
/// - Parameters:
///   - store: a folder.
///   - readable: a folder with a file `file`, which may be read, and a file `other`.
///   - other: a folder with a file `file` that is closed.
///   - results: for each `probe` 0 for what was permitted, or errno.
/// - Returns: what fetcher_confine returned, -1 when the process did not get that far.
int probe_confined(const char *_Nonnull store, const char *_Nonnull readable, const char *_Nonnull other, int *_Nonnull results);
