/// The state machine of one upload. A pure value: ``UploadServer`` reports responses to it and
/// carries out the actions that it returns.
///
/// An object that is there and young is left alone. An old one is copied onto itself, which makes it
/// young for the bucket's lifecycle rule. A missing one is put, unless another worker is faster.
struct S3UploadState {
  enum Request: Equatable, Sendable {
    case head
    /// - Parameter isConditional: only if there is no object yet (`If-None-Match: *`).
    case put(isConditional: Bool)
    /// Copy the object onto itself.
    case copy
  }

  enum Action: Equatable, Sendable {
    case send(Request)
    /// Send it again if a quarter of the budget is left; else fail with the explanation.
    case sendAgain(Request, explanation: String)
    /// The object is there.
    ///
    /// - Parameter age: how old it is.
    case published(age: Duration)
    case failed(explanation: String)
    case refused(explanation: String)
  }

  /// How old an object may be.
  let keep: Duration
  /// Whether the server knows conditional requests to put an object.
  private(set) var isConditional: Bool
  private(set) var request = Request.head
  /// Whether the response to `.head` showed that there is no object.
  private var wasAbsent = false
  private var hasTriedAgain = false

  init(keep: Duration, isConditional: Bool) {
    (self.keep, self.isConditional) = (keep, isConditional)
  }

  /// Handles the response to ``request``.
  mutating func handle(_ answer: S3Answer) -> Action {
    if answer.isTransient { return tryAgain(answer) }
    switch (request, answer.status) {
    case (.head, 200):
      guard let age = answer.age, age < keep else { return send(.copy) }
      return .published(age: max(.zero, age))
    case (.head, 404):
      wasAbsent = true
      return send(.put(isConditional: isConditional))
    // Without the right to list, a missing object is forbidden too. The response has no body that
    // tells the two apart.
    case (.head, 403): return send(.put(isConditional: isConditional))
    case (.put, 200...299), (.copy, 200): return .published(age: .zero)
    // Another worker was faster. If the age is unknown, a copy makes the object young.
    case (.put(isConditional: true), 412): return wasAbsent ? .published(age: .zero) : send(.copy)
    case (.put(isConditional: true), 501):
      isConditional = false
      return send(.put(isConditional: false))
    // Somebody has deleted it meanwhile.
    case (.copy, 404) where answer.code != "NoSuchBucket" && !hasTriedAgain:
      hasTriedAgain = true
      return send(.put(isConditional: isConditional))
    case (.head, _), (.put, _), (.copy, _): return .refused(explanation: "\(answer.words): \(answer.advice)")
    }
  }

  private mutating func send(_ request: Request) -> Action {
    self.request = request
    return .send(request)
  }

  private mutating func tryAgain(_ answer: S3Answer) -> Action {
    guard !hasTriedAgain else { return .failed(explanation: "\(answer.words), again") }
    hasTriedAgain = true
    return .sendAgain(request, explanation: answer.words)
  }
}
