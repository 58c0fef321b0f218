package import Attache
internal import Synchronization

/// Reports where every fetcher of this process is about to connect: the addresses that passed the
/// gate, as passed to the transport.
package enum TransferWatch {
  package typealias Watcher = @Sendable (_ addresses: [IPAddress], _ port: UInt16) -> Void

  /// Wraps the closure in a struct. A closure stored directly in the lock gains another wrapper on
  /// each access.
  private struct Watch: Sendable {
    let watcher: Watcher
  }

  private static let watch = Mutex<Watch?>(nil)

  /// Calls `watcher` from now on, on the fetchers' threads.
  package static func notify(_ watcher: @escaping Watcher) {
    watch.withLock { $0 = Watch(watcher: watcher) }
  }

  /// Returns the same network with its requests reported.
  package static func watching(_ network: FetchNetwork) -> FetchNetwork {
    var watched = network
    let makeTransport = network.transport
    watched.transport = { loop throws(StartError) in WatchedTransport(try makeTransport(loop)) }
    return watched
  }

  /// Reports where a process of attache would connect, if a thread of this process does so instead.
  static func note(_ addresses: [IPAddress], port: UInt16) {
    watch.withLock { $0 }?.watcher(addresses, port)
  }

  fileprivate static func note(_ request: TransferRequest) {
    note(request.addresses, port: request.proxy?.port ?? request.url.port)
  }
}

/// A transport that reports its requests.
private final class WatchedTransport: Transport {
  private let transport: any Transport

  init(_ transport: any Transport) {
    self.transport = transport
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer {
    TransferWatch.note(request)
    return try transport.begin(request, for: owner)
  }

  func deliverEnds() {
    transport.deliverEnds()
  }

  func shutdown() {
    transport.shutdown()
  }
}
