internal import Synchronization

/// The way back from a service extension to its host: what Apple's content handler is on a phone.
///
/// It may be called from any thread and any number of times; the first call counts.
public final class ExtensionReply: Sendable {
  private struct State {
    var appointment: Appointment?
    var isLastBooked = false
    var extensionInstance: (any ServiceExtension)?
  }

  /// Which request of the host's it is, in the order in which they came.
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

  /// Whether the request has been decided, so that further work on it is in vain.
  public var isDecided: Bool {
    gate.isPassed
  }

  /// Offers the last word on the request.
  ///
  /// Content without alert text is ignored, and the original delivered.
  ///
  /// - Returns: whether this offer was the first, and is what is delivered.
  @discardableResult
  public func offer(_ delivery: ExtensionResult) -> Bool {
    guard delivery.content?.hasAlertText == false else { return settle(with: delivery) != nil }
    _ = settle(with: .original(.payloadAlert, media: delivery.media))
    return false
  }

  /// Decides without the extension, which is told so.
  @discardableResult
  func decide(_ reason: Reason) -> Bool {
    guard let instance = settle(with: .original(reason)) else { return false }
    host.call(instance) { $0.cancel() }
    return true
  }

  /// Books the next look at the clock; nothing when the request is decided already.
  ///
  /// - Parameter isLast: whether it is the deadline's; the notice's, booked late, does not take its
  ///   place.
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

  /// Tells the extension that time will expire, unless it has answered.
  func notify() {
    guard let instance = state.withLock({ $0.extensionInstance }) else { return }
    host.call(instance) { $0.timeWillExpire() }
  }

  /// Hands the request to the extension.
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
