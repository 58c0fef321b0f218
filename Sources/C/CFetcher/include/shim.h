#ifndef CFETCHER_SHIM_H
#define CFETCHER_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "sandbox.h"

// What Swift cannot call, or must not do between fork and the first thread of a child.

// How far a fetch is, as its fetcher writes it and the host reads it, in memory that the two share. The host takes it for a stranger's: each field is
// checked before it is used. Durations are in nanoseconds, -1 where there is none.
typedef struct {
  // Which fetch this is about; the fetcher writes nothing once another has the place.
  uint64_t fetch;
  int64_t bytes;
  // In this order: who sees the sum with an ended wait also sees that the wait has ended, and does not count it twice.
  int64_t waiting_since, wait;
  int64_t dns, connect, tls, first_byte;
  int32_t status;
  int32_t attempts;
  // One of MediaType, counted from 1; 0 is unknown.
  uint8_t type;
  // One of MediaRecord.Cache, counted from 0.
  uint8_t cache;
  // What the fetch waits for: 0 nothing, 1 a place at its origin, 2 one of all places.
  uint8_t awaited;
  // 1 while the complete picture is converted.
  uint8_t converting;
  uint8_t padding[4];
  // How many places there are of those that are awaited.
  int64_t places;
} fetcher_progress;

// What a fetcher says of itself.
typedef struct {
  // How often its loop has turned.
  volatile uint64_t turns;
  // The fetch that it works on, 0 for none.
  volatile uint64_t at_work;
} fetcher_pulse;

// Memory that this process and its children share, zeroed; null where there is none.
void *fetcher_share(size_t bytes);

// The numbers that descriptors have in a child to which they were given.
enum { fetcher_kept = 3, fetcher_kept_too };

// Forks. The child has default handlers and no blocked signal, ignores what is meant for its group, and ends with its parent. It has the descriptor `kept`
// as fetcher_kept, /dev/null as input, output and error, and no other. fetcher_fork_with keeps `kept_too` as fetcher_kept_too as well.
//
// Returns 0 in the child, its number in the parent, -1 with errno.
int fetcher_fork(int kept);
int fetcher_fork_with(int kept, int kept_too);

// Makes the calling process the parent of whatever its children leave behind, and has it outlive the process that forked it, so that it can collect its
// children. It ends 5 s later at the latest.
void fetcher_adopt_orphans(void);

// Waits until every child has ended, 2 s at most, and ends the process.
_Noreturn void fetcher_leave(void);

// Names the calling thread, and so the process as ps shows it.
void fetcher_name(const char *name);

// Confines a process that has one thread (sandbox.h). It has `data_bytes` of memory beside what it has now and the stacks of its threads, so many descriptors,
// no mask for the modes of files, and leaves no core. A relative path is one from where the process is.
//
// Returns what could not be done, as sandbox_confine.
int fetcher_confine(
    sandbox_profile profile, const char *store, const char *const *readable, uint64_t data_bytes, uint64_t descriptors);

// Has the process end by SIGPROF when a turn of its loop takes a second of processor time.
void fetcher_watch_turns(fetcher_pulse *pulse);

// Stores and loads a progress word by word, in and against their order: each field is right by itself, and whoever sees a field sees those before it.
void fetcher_store(fetcher_progress *to, const fetcher_progress *from);
fetcher_progress fetcher_load(const fetcher_progress *from);

// Has the number `replaced` name the socket `socket`, closed on exec. As dup3(2).
int fetcher_replace(int socket, int replaced);

// The next child that has ended or stopped, as `children` of fetcher_watch_children tells. Its number and what became of it: a signal's number, or 0 and its exit status. A child that stopped
// is ended.
//
// Returns -1 when there is none.
int fetcher_reap(int children, int *signal, int *status);

// A descriptor that is readable when a child has ended or stopped; the signal is blocked from then on.
int fetcher_watch_children(void);

#endif
