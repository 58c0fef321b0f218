internal import Attache

/// The requests that wait for a stream, in order of arrival. Requests that are sent again come
/// first.
struct RequestLine {
  private var requests: [PushRequest] = []
  private var head = 0
  /// The requests to send again; the last one is sent first.
  private var again: [PushRequest] = []

  var isEmpty: Bool { head == requests.count && again.isEmpty }

  mutating func append(_ request: PushRequest) {
    requests.append(request)
  }

  mutating func prepend(_ request: PushRequest) {
    again.append(request)
  }

  mutating func popFirst() -> PushRequest? {
    if let request = again.popLast() { return request }
    guard head < requests.count else { return nil }
    defer {
      head += 1
      if head == requests.count || head >= 4_096 {
        requests.removeFirst(head)
        head = 0
      }
    }
    return requests[head]
  }

  /// Removes the requests that have waited for `span` since the first failure that they saw, and
  /// calls `body` with each.
  mutating func giveUp(at now: MonotonicInstant, after span: Duration, _ body: (PushRequest) -> Void) {
    var kept: [PushRequest] = []
    while let request = popFirst() {
      let since = request.waitsSince ?? now
      request.waitsSince = since
      if since.duration(to: now) >= span { body(request) } else { kept.append(request) }
    }
    (requests, head, again) = (kept, 0, [])
  }
}
