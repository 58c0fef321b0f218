extension FaultOrigin {
  /// The requests so far, in the order received.
  public var requests: [RecordedRequest] { ledger.read(\.requests) }

  /// The number of connections accepted.
  public var connectionCount: Int { ledger.read(\.accepted) }

  /// The number of connections that are open now.
  public var openConnections: Int { ledger.read { $0.accepted - $0.closed } }

  /// Returns the number of requests for a path; for all paths when `path` is nil.
  public func requestCount(path: String? = nil) -> Int {
    ledger.read { $0.requestCounts[path ?? "", default: 0] }
  }

  /// Returns the number of body bytes that the socket has accepted for a path, over all its
  /// responses.
  public func sentBodyBytes(path: String) -> Int {
    ledger.read { $0.sentBytes[path, default: 0] }
  }

  /// Resumes responses that stall on a path, now and from now on.
  public func release(_ path: String) {
    ledger.release(path: path)
  }

  /// Returns when `count` requests have arrived for a path, or for all paths. Like the other
  /// methods here, it also returns when the origin stops or the task is cancelled.
  public func waitForRequests(count: Int, path: String? = nil) async {
    await ledger.wait { $0.requestCounts[path ?? "", default: 0] >= count }
  }

  /// Returns when `count` responses have reached a stall on a path. The socket has then accepted
  /// all bytes before the stall.
  public func waitForStalls(count: Int, path: String) async {
    await ledger.wait { $0.stallCounts[path, default: 0] >= count }
  }

  /// Returns when `count` connections have been accepted.
  public func waitForConnections(accepted count: Int) async {
    await ledger.wait { $0.accepted >= count }
  }

  /// Returns when `count` connections have been closed, by either side.
  public func waitForConnections(closed count: Int) async {
    await ledger.wait { $0.closed >= count }
  }

  /// Returns when at most `count` connections are open.
  public func waitForConnections(open count: Int) async {
    await ledger.wait { $0.accepted - $0.closed <= count }
  }
}
