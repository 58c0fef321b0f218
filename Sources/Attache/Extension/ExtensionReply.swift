/// The channel on which a service extension answers its host. It corresponds to Apple's content
/// handler.
///
/// Any thread may call it, any number of times. Only the first call counts.
public final class ExtensionReply: Sendable {
  /// The number of the request, in the order in which the host received them.
  let number: Int
  private let gate = FirstWins()
  private let host: ServiceExtensionHost
  private let request: NotificationRequest
  private let deliver: @Sendable (ExtensionResult) -> Void

  init(
    _ request: NotificationRequest, number: Int, host: ServiceExtensionHost,
    deliver: @escaping @Sendable (ExtensionResult) -> Void
  ) {
    self.request = request
    self.number = number
    self.host = host
    self.deliver = deliver
  }

  /// Whether the request is decided, so that further work on it is useless.
  public var isDecided: Bool {
    gate.isPassed
  }

  /// Offers the final result of the request.
  ///
  /// Content without alert text is ignored, and the original is delivered. The original is also
  /// delivered if the line cannot have the content; see ``NotificationContent``.
  ///
  /// - Parameter delivery: the content to deliver, or the original.
  /// - Returns: whether this offer was the first, and its content has alert text.
  @discardableResult
  public func offer(_ delivery: ExtensionResult) -> Bool {
    guard request.payload.wakesExtension, delivery.content?.lacksAlertText == true else { return settle(with: delivery) }
    _ = settle(with: .original(.payloadAlert, media: delivery.media))
    return false
  }

  /// Decides the request without its extension, and calls the extension's `cancel()`.
  func decide(_ reason: Reason, for instance: any ServiceExtension) {
    let media = type(of: instance).returnsAtOnce ? instance.media(of: request, endedBy: reason) : []
    if settle(with: .original(reason, media: media)) { host.call(instance) { $0.cancel() } }
  }

  /// - Returns: whether this was the first offer.
  private func settle(with delivery: ExtensionResult) -> Bool {
    guard gate.pass() else {
      host.countDropped()
      return false
    }
    host.forget(self)
    deliver(delivery)
    return true
  }

  /// Calls the extension's `timeWillExpire()`, unless the request is decided.
  func notify(_ instance: any ServiceExtension) {
    if !isDecided { host.call(instance) { $0.timeWillExpire() } }
  }

  /// Passes the request to its extension.
  func begin(_ instance: any ServiceExtension) {
    let isTaken = host.call(instance) { [self] instance in
      do {
        try instance.didReceive(request, answer: self)
      } catch {
        offer(.original(.internal))
      }
    }
    if !isTaken { decide(.internal, for: instance) }
  }
}
