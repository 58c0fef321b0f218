import Synchronization

/// A value that threads change and for which tests wait.
final class Watched<Value: Sendable>: Sendable {
  private struct Waiter {
    var isSatisfied: @Sendable (Value) -> Bool
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct Book {
    var value: Value
    var waiters: [Waiter] = []

    mutating func takeSatisfied() -> [Waiter] {
      let satisfied = waiters.filter { $0.isSatisfied(value) }
      waiters.removeAll { $0.isSatisfied(value) }
      return satisfied
    }
  }

  private let book: Mutex<Book>

  init(_ value: Value) {
    book = Mutex(Book(value: value))
  }

  func read<Part: Sendable>(_ part: @Sendable (Value) -> Part) -> Part {
    book.withLock { part($0.value) }
  }

  @discardableResult
  func change<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
    let (result, satisfied) = book.withLock { book in
      let result = change(&book.value)
      return (result, book.takeSatisfied())
    }
    for waiter in satisfied { waiter.continuation.resume() }
    return result
  }

  /// Returns when the value satisfies the condition.
  func wait(until isSatisfied: @escaping @Sendable (Value) -> Bool) async {
    await withCheckedContinuation { continuation in
      let satisfied = book.withLock { book in
        book.waiters.append(Waiter(isSatisfied: isSatisfied, continuation: continuation))
        return book.takeSatisfied()
      }
      for waiter in satisfied { waiter.continuation.resume() }
    }
  }
}
