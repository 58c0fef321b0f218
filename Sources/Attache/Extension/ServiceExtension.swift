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
