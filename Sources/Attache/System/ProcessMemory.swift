internal import CLinux
internal import Glibc

/// The memory of a process that is nothing but a filter; a library does not decide this for the
/// program that uses it.
package enum ProcessMemory {
  /// Has the threads share a few arenas of the allocator, where each would have one of its own with
  /// its own leavings, and has the bodies of files come from memory that is used again: giving 100
  /// KB back and getting it anew costs a page fault for each 4 KB.
  package static func tuneAllocator() {
    // The loops and the main thread of a filter allocate at once on two cores, as the two threads
    // of a deliverer do.
    _ = mallopt(M_ARENA_MAX, 4)
    _ = mallopt(M_MMAP_THRESHOLD, 1 << 20)
    _ = mallopt(M_TRIM_THRESHOLD, 8 << 20)
  }

  /// Lets go of what only the start has needed: memory that is free again, and 9 of the 20 MB of
  /// code in the executable and its libraries. It is done on a thread of its own a moment later, so
  /// that a run of a few payloads is over before and pays nothing.
  package static func dropStart() {
    let moment: UInt32 = 5_000
    try? Thread.start("memory") {
      usleep(moment)
      _ = malloc_trim(0)
      linux_drop_constants()
    }.detach()
  }
}
