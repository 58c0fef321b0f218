internal import Attache

/// The requests that wait for a stream, first come, first served; what is sent again goes before
/// all others.
struct RequestLine {
  private var requests: [PushRequest] = []
  private var head = 0
  /// What goes first, the last one before the others.
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

  /// Takes out the requests that have waited for a span since the first failure that they saw.
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
