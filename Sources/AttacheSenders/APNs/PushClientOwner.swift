/// The owner of a client. All methods are called on the client's thread.
package protocol PushClientOwner: AnyObject, Sendable {
  func take(_ ends: [(request: PushRequest, end: RequestEnd<APNsReply>)])
  /// Receives one line that the user should know.
  func notify(_ notice: String)
  /// A connection has replaced a lost one.
  func reconnected()
}
