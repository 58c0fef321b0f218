internal import Synchronization

/// Runs a service extension against the deadline, and owns the fallback: whatever the extension
/// does, each request is decided once and in time.
public final class ServiceExtensionHost: Sendable {
  private struct Running {
    /// By their number.
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

  /// - Parameters:
  ///   - clock: what the deadlines are kept by.
  ///   - grace: how long before the deadline an extension is told that time will expire. One that
  ///     answers at once decides there and then;
  ///     any other has half of it, and the rest is for writing.
  ///   - makeExtension: makes the instance that serves a request.
  public init(clock: any DeadlineClock, grace: Duration, makeExtension: @escaping @Sendable () -> any ServiceExtension) {
    self.clock = clock
    self.grace = grace
    self.makeExtension = makeExtension
    threads = ExtensionThreads(machine: clock.machineBehind)
  }

  /// Offers that came after their request was decided.
  public var droppedOffers: Int {
    dropped.load(ordering: .relaxed)
  }

  /// Has an extension serve the request.
  ///
  /// - Parameter deliver: called exactly once, on any thread, before the request's deadline: with
  ///   content that has alert text, or the original.
  public func run(_ request: NotificationRequest, deliver: @escaping @Sendable (ExtensionResult) -> Void) {
    let instance = makeExtension()
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    let answer = ExtensionReply(request, number: number, to: instance, host: self, deliver: deliver)
    guard !running.withLock({ $0.isCancelled }) else { return _ = answer.decide(.cancelled) }
    let notice = request.deadline.advanced(by: .zero - grace)
    guard clock.now < notice else { return _ = answer.decide(.deadline) }
    answer.begin()
    // What is decided at once needs neither the clock nor anybody who could cancel it.
    guard !answer.isDecided, remember(answer) else { return }
    let (deadline, type) = (request.deadline, type(of: instance))
    answer.book(clock.schedule(at: notice) { [self] in expire(answer, deadline, type) }, isLast: false)
  }

  /// Has each request served by an extension of its own.
  ///
  /// - Parameter deliver: called exactly once, on any thread, when all of them are decided, before
  ///   the last of their deadlines; in their order.
  func run(_ requests: [NotificationRequest], deliver: @escaping @Sendable ([ExtensionResult]) -> Void) {
    if requests.count == 1 { return run(requests[0]) { deliver([$0]) } }
    let deliveries = Deliveries(count: requests.count)
    for (index, request) in requests.enumerated() {
      run(request) { if let all = deliveries.add($0, at: index) { deliver(all) } }
    }
  }

  /// Has the answer be found by ``cancelAll()`` until it is decided.
  ///
  /// - Returns: false when everything has been cancelled, this answer included.
  private func remember(_ answer: ExtensionReply) -> Bool {
    let isCancelled = running.withLock { running in
      if !running.isCancelled { running.answers[answer.number] = answer }
      return running.isCancelled
    }
    if isCancelled { answer.decide(.cancelled) }
    // It may have been decided before it was there to be forgotten.
    if answer.isDecided { forget(answer) }
    return !isCancelled
  }

  /// Has an extension serve the request, and waits for the decision.
  public func run(_ request: NotificationRequest) async -> ExtensionResult {
    await withCheckedContinuation { continuation in
      run(request) { continuation.resume(returning: $0) }
    }
  }

  /// Decides every request under way, and any later one, for the original.
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

  /// Calls an extension: in place when it returns at once, else on a thread that it may block.
  ///
  /// - Returns: false when there is no thread to be had.
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

/// The deliveries of one line, gathered until the last has come.
private final class Deliveries: Sendable {
  private let gathered: Mutex<(deliveries: [ExtensionResult?], missing: Int)>

  init(count: Int) {
    gathered = Mutex((Array(repeating: nil, count: count), count))
  }

  /// - Returns: all of them, to the one who adds the last.
  func add(_ delivery: ExtensionResult, at index: Int) -> [ExtensionResult]? {
    gathered.withLock { gathered in
      gathered.deliveries[index] = delivery
      gathered.missing -= 1
      return gathered.missing == 0 ? gathered.deliveries.compactMap { $0 } : nil
    }
  }
}
