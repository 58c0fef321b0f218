/// Something that happened at an origin, as its watcher hears of it, on the thread of the
/// connection.
package enum OriginEvent: Sendable {
  /// A connection was accepted; the first is 1.
  case connection(Int)
  case request(RecordedRequest)
  /// The head of a response was handed to the socket.
  case head(path: String, status: Int)
  /// The socket has taken so many bytes of a body, or of what stands in the place of HTTP.
  case sent(path: String, bytes: Int)
  /// A response has come to its stall.
  case stalled(path: String)
  case reset(path: String)
  case closed(path: String)
  /// A signal was sent to the process that had sent the request, or no such process could be seen.
  case fetcher(path: String, FetcherFault, isReached: Bool)
  /// The whole response has been sent.
  case finished(path: String)
}

extension OriginEvent {
  /// A watcher of everything that passes the requests on.
  static func requests(_ watch: @escaping @Sendable (RecordedRequest) -> Void) -> @Sendable (OriginEvent) -> Void {
    { event in
      if case .request(let request) = event { watch(request) }
    }
  }
}
