/// Something that receives a request and may hand back better content, as Apple's
/// `UNNotificationServiceExtension` does on a phone.
///
/// One instance serves one request, so what it gathers for the request lives in its own properties.
/// Nothing it does or fails to do delays a payload: the host decides at the deadline with what it
/// has.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension
public protocol ServiceExtension: AnyObject, Sendable {
  /// Whether every method returns at once, without waiting for anything. The host then calls them
  /// in place, and takes what is offered when time will expire as the last word; otherwise each
  /// call has a thread, which is lost to the host while the call blocks.
  static var returnsAtOnce: Bool { get }

  /// Receives the request. The answer may be given here or later, from any thread, once.
  ///
  /// - Throws: anything; the original content is then delivered.
  func didReceive(_ request: NotificationRequest, answer: ExtensionReply) throws

  /// Told, on another thread, that time will expire: the last chance to answer with the best
  /// attempt so far.
  func timeWillExpire()

  /// Told that the request was decided without this extension: nobody waits for an answer any more.
  func cancel()
}

extension ServiceExtension {
  public static var returnsAtOnce: Bool { false }

  public func timeWillExpire() {}

  public func cancel() {}
}
