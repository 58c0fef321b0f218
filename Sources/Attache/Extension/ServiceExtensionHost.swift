internal import Synchronization

/// Runs a service extension against the deadline and provides the fallback: each request is decided
/// once and in time, whatever the extension does.
public final class ServiceExtensionHost: Sendable {
  /// What all threads share.
  private struct State {
    /// The undecided requests, by number.
    var undecided: [Int: Undecided] = [:]
    var isCancelled = false
    var threads = ExtensionThreads()
  }

  private struct Undecided {
    let answer: ExtensionReply
    let instance: any ServiceExtension
    /// The next timer.
    var appointment: Appointment?
    var isLastBooked = false
  }

  private let clock: any DeadlineClock
  private let grace: Duration
  private let makeExtension: @Sendable () -> any ServiceExtension
  private let machine: any Machine
  private let state = Mutex(State())
  private let begun = Atomic<Int>(0)
  private let dropped = Atomic<Int>(0)

  /// Creates a host.
  ///
  /// - Parameters:
  ///   - clock: the clock for the deadlines.
  ///   - grace: the time before the deadline at which an extension is notified that time will
  ///     expire. If it answers immediately, the host decides right after the notice. Any other
  ///     extension has half of `grace` to answer, and the rest is for writing.
  ///   - makeExtension: creates the instance that serves a request.
  public convenience init(clock: any DeadlineClock, grace: Duration, makeExtension: @escaping @Sendable () -> any ServiceExtension) {
    self.init(clock: clock, machine: SystemMachine(), grace: grace, makeExtension: makeExtension)
  }

  /// - Parameter machine: where the threads of extensions run.
  init(clock: any DeadlineClock, machine: any Machine, grace: Duration, makeExtension: @escaping @Sendable () -> any ServiceExtension) {
    (self.clock, self.machine, self.grace, self.makeExtension) = (clock, machine, grace, makeExtension)
  }

  deinit {
    state.withLock { $0.threads }.wakeIdle()
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
  public func run(_ request: consuming NotificationRequest, deliver: @escaping @Sendable (ExtensionResult) -> Void) {
    let instance = makeExtension()
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    let deadline = request.deadline
    let answer = ExtensionReply(request, number: number, host: self, deliver: deliver)
    guard !state.withLock({ $0.isCancelled }) else { return decide(answer, .cancelled, for: instance) }
    let notice = deadline.advanced(by: .zero - grace)
    guard clock.now < notice else { return decide(answer, .deadline, for: instance) }
    begin(answer, instance)
    // A request that is decided immediately needs no timer and cannot be cancelled.
    guard !answer.isDecided, remember(answer, instance) else { return }
    book(clock.schedule(at: notice) { [self] in expire(answer, instance, deadline) }, for: answer, isLast: false)
  }

  /// Serves each request with its own extension.
  ///
  /// - Parameter deliver: called exactly once, on any thread, when all requests are decided, before
  ///   the last of their deadlines. The results are in the order of the requests.
  func run(_ requests: consuming [NotificationRequest], deliver: @escaping @Sendable ([ExtensionResult]) -> Void) {
    if requests.count == 1 { return run(requests.removeLast()) { deliver([$0]) } }
    let deliveries = Deliveries(count: requests.count)
    for (index, request) in requests.enumerated() {
      run(request) { if let all = deliveries.add($0, at: index) { deliver(all) } }
    }
  }

  /// Registers the reply for ``cancelAll()`` until it is decided.
  ///
  /// - Returns: false if everything was cancelled, including this reply.
  private func remember(_ answer: ExtensionReply, _ instance: any ServiceExtension) -> Bool {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.undecided[answer.number] = Undecided(answer: answer, instance: instance) }
      return state.isCancelled
    }
    if isCancelled { decide(answer, .cancelled, for: instance) }
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
    let undecided = state.withLock { state in
      state.isCancelled = true
      return state.undecided.values.sorted { $0.answer.number < $1.answer.number }
    }
    for request in undecided { decide(request.answer, .cancelled, for: request.instance) }
  }

  private func expire(_ answer: ExtensionReply, _ instance: any ServiceExtension, _ deadline: MonotonicInstant) {
    guard !answer.isDecided else { return }
    call(instance) { $0.timeWillExpire() }
    guard !answer.isDecided else { return }
    if type(of: instance).answersAtExpiry {
      decide(answer, .deadline, for: instance)
    } else {
      let last = deadline.advanced(by: .zero - grace / 2)
      book(clock.schedule(at: last) { [self] in decide(answer, .deadline, for: instance) }, for: answer, isLast: true)
    }
  }

  /// Stores the next timer of a request. Cancels the timer if the request is already decided.
  ///
  /// - Parameter isLast: whether this is the deadline's timer. The notice's timer, if it is stored
  ///   late, does not replace it.
  private func book(_ appointment: Appointment, for answer: ExtensionReply, isLast: Bool) {
    let isUndecided = state.withLock { state in
      guard var request = state.undecided[answer.number] else { return false }
      guard isLast || !request.isLastBooked else { return true }
      (request.appointment, request.isLastBooked) = (appointment, isLast)
      state.undecided[answer.number] = request
      return true
    }
    if !isUndecided { clock.cancel(appointment) }
  }

  // MARK: - One request

  /// Passes the request to its extension.
  private func begin(_ answer: ExtensionReply, _ instance: any ServiceExtension) {
    let isTaken = call(instance) { instance in
      do {
        try instance.didReceive(answer.request, answer: answer)
      } catch {
        answer.offer(.original(.internal))
      }
    }
    if !isTaken { decide(answer, .internal, for: instance) }
  }

  /// Decides a request without its extension, and calls the extension's `cancel()`.
  private func decide(_ answer: ExtensionReply, _ reason: Reason, for instance: any ServiceExtension) {
    let media = type(of: instance).returnsAtOnce ? instance.media(of: answer.request, endedBy: reason) : []
    if settle(answer, with: .original(reason, media: media)) { call(instance) { $0.cancel() } }
  }

  /// Delivers a result, if it is the first of the race between result, expiry, deadline and
  /// cancellation.
  ///
  /// - Returns: whether it is.
  func settle(_ answer: ExtensionReply, with result: ExtensionResult) -> Bool {
    guard answer.pass() else {
      dropped.wrappingAdd(1, ordering: .relaxed)
      return false
    }
    forget(answer)
    answer.deliver(result)
    return true
  }

  // MARK: - Threads

  /// Calls an extension: directly if its methods return immediately, otherwise on a thread that it
  /// may block.
  ///
  /// - Returns: false if no thread is available.
  @discardableResult
  private func call(_ instance: any ServiceExtension, _ body: @escaping @Sendable (any ServiceExtension) -> Void) -> Bool {
    guard !type(of: instance).returnsAtOnce else {
      body(instance)
      return true
    }
    guard let (thread, isNew) = state.withLock({ $0.threads.take(on: machine) }) else { return false }
    thread.give { body(instance) }
    return isNew ? start(thread) : true
  }

  private func start(_ thread: ExtensionThread) -> Bool {
    do {
      try machine.start("extension") { [weak self] in
        // A waiting thread must not retain this host. Work that was given is done even if the host
        // is gone: an extension must hear that its request is decided.
        while true {
          if thread.perform() {
            self?.park(thread)
          } else if self == nil {
            return
          } else {
            thread.alarm.wait(until: nil)
          }
        }
      }.detach()
      return true
    } catch {
      state.withLock { $0.threads.noteFailedStart() }
      return false
    }
  }

  private func park(_ thread: ExtensionThread) {
    state.withLock { $0.threads.park(thread) }
  }

  /// Removes a request that is decided, and cancels its timer.
  private func forget(_ answer: ExtensionReply) {
    let request = state.withLock { $0.undecided.removeValue(forKey: answer.number) }
    if let appointment = request?.appointment { clock.cancel(appointment) }
  }
}

/// Collects the results of one line's requests.
private final class Deliveries: Sendable {
  private let deliveries: [SetOnce<ExtensionResult>]
  private let missing: Atomic<Int>

  init(count: Int) {
    deliveries = (0..<count).map { _ in SetOnce() }
    missing = Atomic(count)
  }

  /// - Returns: all results, to the caller that adds the last one.
  func add(_ delivery: ExtensionResult, at index: Int) -> [ExtensionResult]? {
    deliveries[index].set(delivery)
    guard missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return nil }
    return deliveries.compactMap(\.value)
  }
}
