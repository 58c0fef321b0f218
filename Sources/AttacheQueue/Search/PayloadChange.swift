/// Changes the payloads that a filter selects, in steps, so that no transaction is long.
package struct PayloadChange: Sendable {
  /// The number of payloads that one transaction changes at most.
  package static let step = 10_000

  private let queue: any QueueAdministration
  private let filter: PayloadFilter

  package init(_ filter: PayloadFilter, of queue: any QueueAdministration) {
    (self.filter, self.queue) = (filter, queue)
  }

  /// Returns the number of payloads that the filter selects.
  package func count() throws(QueueError) -> Int {
    var sum = 0
    try forEachStep { ids in sum += ids.count }
    return sum
  }

  /// Changes the payloads.
  ///
  /// - Parameter body: changes payloads, and returns how many it changed.
  /// - Returns: the number of changed payloads. It may be too small when a call whose outcome is unknown is
  ///   repeated.
  package func run(_ body: (_ ids: [Int64]) throws(QueueError) -> Int) throws(QueueError) -> Int {
    var sum = 0
    do throws(QueueError) {
      try forEachStep { ids throws(QueueError) in sum += try body(ids) }
      return sum
    } catch {
      throw sum > 0 ? error.adding("\(sum) payloads were changed before; repeat the command") : error
    }
  }

  private func forEachStep(_ body: (_ ids: [Int64]) throws(QueueError) -> Void) throws(QueueError) {
    var last: Int64 = 0
    while true {
      let matches = try queue.find(filter, after: last, limit: Self.step)
      if !matches.ids.isEmpty { try body(matches.ids) }
      guard !matches.isAtEnd else { return }
      last = matches.last
    }
  }
}
