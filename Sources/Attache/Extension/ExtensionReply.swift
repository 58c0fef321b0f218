internal import Synchronization

/// The channel on which a service extension answers its host. It corresponds to Apple's content
/// handler.
///
/// Any thread may call it, any number of times. Only the first call counts.
public final class ExtensionReply: Sendable {
  /// The number of the request, in the order in which the host received them.
  let number: Int
  let request: NotificationRequest
  let deliver: @Sendable (ExtensionResult) -> Void
  private let host: ServiceExtensionHost
  private let hasPassed = Atomic(false)

  init(
    _ request: NotificationRequest, number: Int, host: ServiceExtensionHost,
    deliver: @escaping @Sendable (ExtensionResult) -> Void
  ) {
    (self.request, self.number, self.host, self.deliver) = (request, number, host, deliver)
  }

  /// Whether the request is decided, so that further work on it is useless.
  public var isDecided: Bool {
    hasPassed.load(ordering: .acquiring)
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
    guard request.payload.wakesExtension, delivery.content?.lacksAlertText == true else { return host.settle(self, with: delivery) }
    _ = host.settle(self, with: .original(.payloadAlert, media: delivery.media))
    return false
  }

  /// - Returns: whether this is the first call.
  func pass() -> Bool {
    hasPassed.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
  }
}
