internal import Glibc
internal import Synchronization

@testable import Attache

/// What an intake tells on its own thread, waited for on the fuzzer's.
///
/// `@unchecked Sendable`: the semaphore is made for several threads, the news is locked.
@safe
final class Answers: @unchecked Sendable {
  private struct News {
    var type: MediaType?
    var end: Intake.News?
  }

  private let news = Mutex(News())
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() {
    unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func take(_ told: Intake.News) {
    news.withLock { news in
      if case .recognised(let type) = told { news.type = type } else { news.end = told }
    }
    if case .recognised = told { return }
    unsafe sem_post(semaphore)
  }

  /// Waits for the end: the type that was told before it, if the file came in pieces, and what it is.
  func wait() -> (MediaType?, Intake.News) {
    while unsafe sem_wait(semaphore) != 0 {}
    return news.withLock { ($0.type, $0.end ?? .refused(FetchFailure(reason: .internal), nil)) }
  }
}
