extension FaultOrigin {
  /// The requests so far, in the order in which they came.
  public var requests: [RecordedRequest] { ledger.read(\.requests) }

  /// How many connections were accepted.
  public var connectionCount: Int { ledger.read(\.accepted) }

  /// How many connections are open now.
  public var openConnections: Int { ledger.read { $0.accepted - $0.closed } }

  /// How many requests came for a path, or for all.
  public func requestCount(path: String? = nil) -> Int {
    ledger.read { $0.requestCounts[path ?? "", default: 0] }
  }

  /// How many bytes of bodies the socket has taken for a path, in all its responses.
  public func sentBodyBytes(path: String) -> Int {
    ledger.read { $0.sentBytes[path, default: 0] }
  }

  /// Lets what stalls on a path go on, now and from now on.
  public func release(_ path: String) {
    ledger.release(path: path)
  }

  /// Comes back when so many requests have come for a path, or for all. As the others here, it also
  /// ends when the origin stops or the task is cancelled.
  public func waitForRequests(count: Int, path: String? = nil) async {
    await ledger.wait { $0.requestCounts[path ?? "", default: 0] >= count }
  }

  /// Comes back when so many responses have come to a stall on a path: what goes before the stall
  /// has been taken by the socket.
  public func waitForStalls(count: Int, path: String) async {
    await ledger.wait { $0.stallCounts[path, default: 0] >= count }
  }

  /// Comes back when so many connections have been accepted.
  public func waitForConnections(accepted count: Int) async {
    await ledger.wait { $0.accepted >= count }
  }

  /// Comes back when so many connections have been closed, by either side.
  public func waitForConnections(closed count: Int) async {
    await ledger.wait { $0.closed >= count }
  }

  /// Comes back when no more than so many connections are open.
  public func waitForConnections(open count: Int) async {
    await ledger.wait { $0.accepted - $0.closed <= count }
  }
}
