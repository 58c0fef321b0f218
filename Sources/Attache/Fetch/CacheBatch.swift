/// Inquiries that are sent to the index's thread together, and who waits for their answers.
///
/// `@unchecked Sendable`: filled and answered on the loop; in between, `inquiries` is constant.
final class CacheBatch: @unchecked Sendable {
  private(set) var inquiries: [CacheShelf.Inquiry] = []
  /// How long the most impatient waits.
  private(set) var patience = Duration.seconds(1)
  private var replies: [@Sendable (CacheShelf.Answer) -> Void]? = []

  var isEmpty: Bool { inquiries.isEmpty }

  func add(_ inquiry: CacheShelf.Inquiry, patience: Duration, _ reply: @escaping @Sendable (CacheShelf.Answer) -> Void) {
    inquiries.append(inquiry)
    replies?.append(reply)
    self.patience = min(patience, self.patience)
  }

  /// Tells everybody, once.
  ///
  /// - Parameter answers: in the order of the inquiries; nil when none came in time.
  /// - Returns: false when all have been told before.
  @discardableResult
  func answer(_ answers: [CacheShelf.Answer]?) -> Bool {
    guard let replies = replies.take() else { return false }
    for (index, reply) in replies.enumerated() { reply(answers?[index] ?? .none) }
    return true
  }
}
