internal import Synchronization

/// A type that receives a request and may return better content, like Apple's
/// `UNNotificationServiceExtension`.
///
/// One instance serves one request, so it can keep the request's data in its own properties. An
/// extension cannot delay a payload: the host decides at the deadline with the results it has.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension
public protocol ServiceExtension: AnyObject, Sendable {
  /// Whether every method returns immediately without waiting. If so, the host calls the methods
  /// directly. Otherwise, each call runs on its own thread, which the host cannot use for other work
  /// while the call blocks.
  static var returnsAtOnce: Bool { get }

  /// Whether an answer during ``timeWillExpire()`` is the last that the host accepts. Otherwise, the
  /// extension may answer for half of the host's grace after that.
  static var answersAtExpiry: Bool { get }

  /// Receives the request. The extension may answer here or later, once, from any thread.
  ///
  /// - Parameters:
  ///   - request: the payload, its identifier and its deadline.
  ///   - answer: the channel for the result.
  /// - Throws: any error; the original content is then delivered.
  func didReceive(_ request: NotificationRequest, answer: ExtensionReply) throws

  /// Notifies the extension, on another thread, that time will expire. This is the last chance to
  /// answer with the best attempt so far.
  func timeWillExpire()

  /// Notifies the extension that the request was decided without it. An answer is no longer needed.
  func cancel()

  /// Returns what the report says about the request's media when the host decides without the
  /// extension. The host asks only an extension whose methods return immediately, before
  /// ``cancel()``. If the request is decided on arrival, the extension has not received it.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - reason: why the host decides, and why unfinished media are not attached.
  /// - Returns: one record for each media URL that was tried, and for each medium that was not.
  func media(of request: NotificationRequest, endedBy reason: Reason) -> [MediaRecord]
}

extension ServiceExtension {
  /// By default, the host runs each call on its own thread.
  public static var returnsAtOnce: Bool { false }

  /// By default, an extension whose methods return immediately answers immediately, too.
  public static var answersAtExpiry: Bool { returnsAtOnce }

  /// Does nothing by default.
  public func timeWillExpire() {}

  /// Does nothing by default.
  public func cancel() {}

  /// Returns no records by default.
  public func media(of request: NotificationRequest, endedBy reason: Reason) -> [MediaRecord] { [] }
}

/// The input of a service extension: a payload with its identifier and its deadline.
public struct NotificationRequest: Sendable {
  /// An identifier for this request; in the filter, the number of its line.
  public var identifier: String
  /// The payload to enrich.
  public var payload: Payload
  /// The time by which the answer must be delivered.
  public var deadline: MonotonicInstant
  /// The content that the payload's line has; nil if the payload was created with content.
  private var contentOfLine: NotificationContent?
  private var line: Segment?

  /// Creates a request.
  public init(identifier: String, payload: Payload, deadline: MonotonicInstant) {
    self.identifier = identifier
    self.payload = payload
    self.deadline = deadline
  }

  private init(identifier: String, payload: Payload, deadline: MonotonicInstant, line: Segment) {
    (self.identifier, self.deadline) = (identifier, deadline)
    contentOfLine = payload.content(in: line)
    (self.payload, self.line) = (payload, line)
  }

  /// Returns the requests of one line, one for each of its payloads, with the same deadline.
  ///
  /// - Parameter identifier: the identifier of a single request. If there are several, a dot and
  ///   the request's number, counted from 1, are appended.
  static func all(_ identifier: String, _ payloads: [Payload], of line: Segment, deadline: MonotonicInstant) -> [NotificationRequest] {
    payloads.indices.map { index in
      let own = payloads.count == 1 ? identifier : "\(identifier).\(index + 1)"
      return NotificationRequest(identifier: own, payload: payloads[index], deadline: deadline, line: line)
    }
  }

  /// The content that is shown if nothing is changed. The payload is parsed once, when a member of
  /// the content is first needed.
  public var content: NotificationContent {
    contentOfLine ?? payload.content(in: nil)
  }

  /// The `apns-collapse-id` of the envelope that the payload is in; nil if there is none.
  var collapseID: UntrustedText? {
    guard payload.place != nil, let line else { return nil }
    return DeliveryReader().envelope(of: line.bytes)?.collapseID
  }

  /// Returns where the line has a value of the payload; the place in the payload if there is no line.
  func writtenPlace(of place: JSONPointer) -> JSONPointer {
    line.flatMap { payload.writtenPlace(of: place, in: $0) } ?? place
  }

  /// The payload as APNs receives it.
  var json: [UInt8] {
    (contentOfLine ?? payload.content(in: nil)).json
  }
}

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

/// The host's result for one request: better content, or the original.
public struct ExtensionResult: Sendable {
  /// The better content; nil means the original.
  public var content: NotificationContent?
  /// Why the original is delivered; nil if there was nothing to do.
  public var reason: Reason?
  /// The result of each media reference, as far as the extension reports it.
  public var media: [MediaRecord]

  /// Returns a result with better content.
  public static func content(_ content: NotificationContent, media: [MediaRecord] = []) -> ExtensionResult {
    ExtensionResult(content: content, reason: nil, media: media)
  }

  /// Returns a result that delivers the original. `reason` is nil if there was nothing to do.
  public static func original(_ reason: Reason?, media: [MediaRecord] = []) -> ExtensionResult {
    ExtensionResult(content: nil, reason: reason, media: media)
  }
}
