internal import Glibc

/// A semaphore (sem_overview(7)): each `open()` lets one thread pass once.
///
/// `@unchecked Sendable`: the kernel's semaphores are safe for many threads, and the pointer never
/// changes.
@safe
final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() {
    unsafe semaphore.initialize(to: sem_t())
    // Fails only for a count above the kernel's maximum.
    _ = unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func open() {
    _ = unsafe sem_post(semaphore)
  }

  func pass() {
    while unsafe sem_wait(semaphore) == -1, errno == EINTR {}
  }
}
