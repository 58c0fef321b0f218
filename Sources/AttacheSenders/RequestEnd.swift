/// How a request ended.
package enum RequestEnd<Reply: Sendable>: Sendable {
  case answered(Reply)
  /// At least a part of the request was sent, and it is unknown whether the server accepted it. One line
  /// says what happened.
  case lost(String)
  /// The server cannot be used at present. One line says why.
  case unusable(String)
  /// No server accepts the sender: the request was not sent. One line says what to do.
  case refused(String)
  /// Nothing of the request was sent, or it was cancelled.
  case unanswered
}
