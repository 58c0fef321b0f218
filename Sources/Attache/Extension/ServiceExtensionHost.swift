internal import Synchronization

/// Runs a service extension against the deadline and provides the fallback: each request is decided
/// once and in time, whatever the extension does.
public final class ServiceExtensionHost: Sendable {
  private struct Running {
    /// The undecided replies, by number.
    var answers: [Int: ExtensionReply] = [:]
    var isCancelled = false
  }

  let clock: any DeadlineClock
  private let grace: Duration
  private let makeExtension: @Sendable () -> any ServiceExtension
  private let threads: ExtensionThreads
  private let running = Mutex(Running())
  private let begun = Atomic<Int>(0)
  private let dropped = Atomic<Int>(0)

  /// Creates a host.
  ///
  /// - Parameters:
  ///   - clock: the clock for the deadlines.
  ///   - grace: the time before the deadline at which an extension is notified that time will
  ///     expire. If its methods return immediately, the host decides right after the notice. Any
  ///     other extension has half of `grace` to answer, and the rest is for writing.
  ///   - makeExtension: creates the instance that serves a request.
  public init(clock: any DeadlineClock, grace: Duration, makeExtension: @escaping @Sendable () -> any ServiceExtension) {
    self.clock = clock
    self.grace = grace
    self.makeExtension = makeExtension
    threads = ExtensionThreads(machine: clock.machineBehind)
  }

  /// The number of offers that came after their request was decided.
  public var droppedOffers: Int {
    dropped.load(ordering: .relaxed)
  }

  /// Serves the request with a new extension.
  ///
  /// - Parameters:
  ///   - request: the request to serve.
  ///   - deliver: called exactly once, on any thread, before the request's deadline, with content
  ///     that has alert text or with the original.
  public func run(_ request: NotificationRequest, deliver: @escaping @Sendable (ExtensionResult) -> Void) {
    let instance = makeExtension()
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    let answer = ExtensionReply(request, number: number, to: instance, host: self, deliver: deliver)
    guard !running.withLock({ $0.isCancelled }) else { return _ = answer.decide(.cancelled) }
    let notice = request.deadline.advanced(by: .zero - grace)
    guard clock.now < notice else { return _ = answer.decide(.deadline) }
    answer.begin()
    // A request that is decided immediately needs no timer and cannot be cancelled.
    guard !answer.isDecided, remember(answer) else { return }
    let (deadline, type) = (request.deadline, type(of: instance))
    answer.book(clock.schedule(at: notice) { [self] in expire(answer, deadline, type) }, isLast: false)
  }

  /// Serves each request with its own extension.
  ///
  /// - Parameter deliver: called exactly once, on any thread, when all requests are decided, before
  ///   the last of their deadlines. The results are in the order of the requests.
  func run(_ requests: [NotificationRequest], deliver: @escaping @Sendable ([ExtensionResult]) -> Void) {
    if requests.count == 1 { return run(requests[0]) { deliver([$0]) } }
    let deliveries = Deliveries(count: requests.count)
    for (index, request) in requests.enumerated() {
      run(request) { if let all = deliveries.add($0, at: index) { deliver(all) } }
    }
  }

  /// Registers the reply for ``cancelAll()`` until it is decided.
  ///
  /// - Returns: false if everything was cancelled, including this reply.
  private func remember(_ answer: ExtensionReply) -> Bool {
    let isCancelled = running.withLock { running in
      if !running.isCancelled { running.answers[answer.number] = answer }
      return running.isCancelled
    }
    if isCancelled { answer.decide(.cancelled) }
    // The reply may have been decided before it was registered.
    if answer.isDecided { forget(answer) }
    return !isCancelled
  }

  /// Serves the request with a new extension, and waits for the decision.
  ///
  /// - Parameter request: the request to serve.
  /// - Returns: content that has alert text, or the original.
  public func run(_ request: NotificationRequest) async -> ExtensionResult {
    await withCheckedContinuation { continuation in
      run(request) { continuation.resume(returning: $0) }
    }
  }

  /// Decides all undecided and all later requests with the original.
  public func cancelAll() {
    let answers = running.withLock { running in
      running.isCancelled = true
      return running.answers.values.sorted { $0.number < $1.number }
    }
    for answer in answers { answer.decide(.cancelled) }
  }

  private func expire(_ answer: ExtensionReply, _ deadline: MonotonicInstant, _ type: any ServiceExtension.Type) {
    answer.notify()
    guard !answer.isDecided else { return }
    if type.returnsAtOnce {
      answer.decide(.deadline)
    } else {
      answer.book(clock.schedule(at: deadline.advanced(by: .zero - grace / 2)) { answer.decide(.deadline) }, isLast: true)
    }
  }

  /// Calls an extension: directly if its methods return immediately, otherwise on a thread that it
  /// may block.
  ///
  /// - Returns: false if no thread is available.
  @discardableResult
  func call(_ instance: any ServiceExtension, _ body: @escaping @Sendable (any ServiceExtension) -> Void) -> Bool {
    guard !type(of: instance).returnsAtOnce else {
      body(instance)
      return true
    }
    return threads.run { body(instance) }
  }

  func forget(_ answer: ExtensionReply) {
    running.withLock { $0.answers[answer.number] = nil }
  }

  func countDropped() {
    dropped.wrappingAdd(1, ordering: .relaxed)
  }
}

/// Collects the results of one line's requests.
private final class Deliveries: Sendable {
  private let gathered: Mutex<(deliveries: [ExtensionResult?], missing: Int)>

  init(count: Int) {
    gathered = Mutex((Array(repeating: nil, count: count), count))
  }

  /// - Returns: all results, to the caller that adds the last one.
  func add(_ delivery: ExtensionResult, at index: Int) -> [ExtensionResult]? {
    gathered.withLock { gathered in
      gathered.deliveries[index] = delivery
      gathered.missing -= 1
      return gathered.missing == 0 ? gathered.deliveries.compactMap { $0 } : nil
    }
  }
}
