internal import CLinux
internal import Glibc

/// Memory settings for attache's own processes. A library must not change them for the program that
/// uses it.
package enum ProcessMemory {
  /// Limits the number of allocator arenas, so that threads share a few and each does not keep
  /// unused memory of its own. Serves the bodies of files from memory that is reused: returning 100
  /// KB to the system and allocating it again costs a page fault per 4 KB.
  package static func tuneAllocator() {
    // The loops and the main thread of a filter allocate concurrently on two cores, as do the two
    // threads of a deliverer.
    _ = mallopt(M_ARENA_MAX, 4)
    _ = mallopt(M_MMAP_THRESHOLD, 1 << 20)
    _ = mallopt(M_TRIM_THRESHOLD, 8 << 20)
  }

  /// Returns memory that only the start needed: freed heap memory, and 9 of the 20 MB of code in
  /// the executable and its libraries. A separate thread does this 250 ms later, so that a run with a
  /// few payloads ends before and pays nothing: the pages that its end needs would be read again.
  /// Without a thread, the caller does it at once.
  package static func dropStart() {
    let moment: UInt32 = 250_000
    do throws(SystemError) {
      try Thread.start("memory") {
        usleep(moment)
        drop()
      }.detach()
    } catch {
      drop()
    }
  }

  private static func drop() {
    _ = malloc_trim(0)
    linux_drop_constants()
  }
}
