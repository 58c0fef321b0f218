internal import CLinux

/// The memory of a process that is nothing but a filter; a library does not decide this for the program that uses it.
package enum ProcessMemory {
  /// Has the threads share two arenas of the allocator, where each would have one of its own with its own leavings.
  package static func shareArenas() {
    _ = mallopt(M_ARENA_MAX, 2)
  }

  /// Lets go of what only the start has needed: memory that is free again, and 9 of the 20 MB of code in the executable and its libraries.
  package static func dropStart() {
    _ = malloc_trim(0)
    linux_drop_constants()
  }
}
