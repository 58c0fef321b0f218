internal import CLinux

/// The memory of a process that is nothing but a filter; a library does not decide this for the program that uses it.
package enum ProcessMemory {
  /// Has the threads share two arenas of the allocator, where each would have one of its own with its own leavings, and has the bodies of files come
  /// from memory that is used again: giving 100 KB back and getting it anew costs a page fault for each 4 KB.
  package static func tuneAllocator() {
    _ = mallopt(M_ARENA_MAX, 2)
    _ = mallopt(M_MMAP_THRESHOLD, 1 << 20)
    _ = mallopt(M_TRIM_THRESHOLD, 8 << 20)
  }

  /// Lets go of what only the start has needed: memory that is free again, and 9 of the 20 MB of code in the executable and its libraries.
  package static func dropStart() {
    _ = malloc_trim(0)
    linux_drop_constants()
  }
}
