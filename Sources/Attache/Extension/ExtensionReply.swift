internal import Synchronization

/// The channel on which a service extension answers its host. It corresponds to Apple's content
/// handler.
///
/// Any thread may call it, any number of times. Only the first call counts.
public final class ExtensionReply: Sendable {
  private struct State {
    var appointment: Appointment?
    var isLastBooked = false
    var extensionInstance: (any ServiceExtension)?
  }

  /// The number of the request, in the order in which the host received them.
  let number: Int
  private let gate = FirstWins()
  private let state: Mutex<State>
  private let host: ServiceExtensionHost
  private let request: NotificationRequest
  private let deliver: @Sendable (ExtensionResult) -> Void

  init(
    _ request: NotificationRequest, number: Int, to instance: any ServiceExtension, host: ServiceExtensionHost,
    deliver: @escaping @Sendable (ExtensionResult) -> Void
  ) {
    self.request = request
    self.number = number
    self.host = host
    self.deliver = deliver
    state = Mutex(State(appointment: nil, extensionInstance: instance))
  }

  /// Whether the request is decided, so that further work on it is useless.
  public var isDecided: Bool {
    gate.isPassed
  }

  /// Offers the final result of the request.
  ///
  /// Content without alert text is ignored, and the original is delivered.
  ///
  /// - Parameter delivery: the content to deliver, or the original.
  /// - Returns: whether this offer was the first and is what is delivered.
  @discardableResult
  public func offer(_ delivery: ExtensionResult) -> Bool {
    guard delivery.content?.hasAlertText == false else { return settle(with: delivery) != nil }
    _ = settle(with: .original(.payloadAlert, media: delivery.media))
    return false
  }

  /// Decides the request without the extension, and calls the extension's `cancel()`.
  @discardableResult
  func decide(_ reason: Reason) -> Bool {
    guard let instance = settle(with: .original(reason)) else { return false }
    host.call(instance) { $0.cancel() }
    return true
  }

  /// Stores the next timer. Cancels the timer if the request is already decided.
  ///
  /// - Parameter isLast: whether this is the deadline's timer. The notice's timer, if it is stored
  ///   late, does not replace it.
  func book(_ appointment: Appointment, isLast: Bool) {
    state.withLock { state in
      guard isLast || !state.isLastBooked else { return }
      state.appointment = appointment
      state.isLastBooked = isLast
    }
    if isDecided { cancelAppointment() }
  }

  /// - Returns: the extension, if this was the first offer.
  private func settle(with delivery: ExtensionResult) -> (any ServiceExtension)? {
    guard gate.pass() else {
      host.countDropped()
      return nil
    }
    cancelAppointment()
    let instance = state.withLock { $0.extensionInstance.take() }
    host.forget(self)
    deliver(delivery)
    return instance
  }

  private func cancelAppointment() {
    if let appointment = state.withLock({ $0.appointment.take() }) { host.clock.cancel(appointment) }
  }

  /// Calls the extension's `timeWillExpire()`, unless the request is decided.
  func notify() {
    guard let instance = state.withLock({ $0.extensionInstance }) else { return }
    host.call(instance) { $0.timeWillExpire() }
  }

  /// Passes the request to the extension.
  func begin() {
    guard let instance = state.withLock({ $0.extensionInstance }) else { return }
    let isTaken = host.call(instance) { [self] instance in
      do {
        try instance.didReceive(request, answer: self)
      } catch {
        offer(.original(.internal))
      }
    }
    if !isTaken { decide(.internal) }
  }
}
