/// How a request ended.
package enum PushEnd: Sendable {
  case answered(APNsReply)
  /// The request was sent, and it is unknown whether the server accepted it. One line says what
  /// happened.
  case lost(String)
  /// No connection is possible at present. One line says why.
  case unusable(String)
  /// The request was cancelled.
  case cancelled
}

/// The owner of a client. All methods are called on the client's thread.
package protocol PushClientOwner: AnyObject, Sendable {
  func take(_ ends: [(request: PushRequest, end: PushEnd)])
  /// Receives one line that the user should know.
  func notify(_ notice: String)
  /// A connection has replaced a lost one.
  func reconnected()
}
