/// An event at an origin. The watcher receives it on the thread of the connection.
package enum OriginEvent: Sendable {
  /// A connection was accepted; the first is 1.
  case connection(Int)
  case request(RecordedRequest)
  /// The head of a response was passed to the socket.
  case head(path: String, status: Int)
  /// The socket has accepted this many bytes of a body, or of the bytes that replace HTTP.
  case sent(path: String, bytes: Int)
  /// A response has reached its stall.
  case stalled(path: String)
  case reset(path: String)
  case closed(path: String)
  /// A signal was sent to the process that sent the request, or no such process is visible.
  case fetcher(path: String, FetcherFault, isReached: Bool)
  /// The whole response has been sent.
  case finished(path: String)
}

extension OriginEvent {
  /// Returns a watcher of all events that passes on only the requests.
  static func requests(_ watch: @escaping @Sendable (RecordedRequest) -> Void) -> @Sendable (OriginEvent) -> Void {
    { event in
      if case .request(let request) = event { watch(request) }
    }
  }
}
