package import Attache
internal import Synchronization

/// Tells where every fetcher of this process is about to connect to: the addresses that the gate
/// has passed, as they are handed to the transport.
package enum TransferWatch {
  package typealias Watcher = @Sendable (_ addresses: [IPAddress], _ port: UInt16) -> Void

  /// A struct: a closure that lies in the lock by itself is wrapped once more by each look at it.
  private struct Watch: Sendable {
    let watcher: Watcher
  }

  private static let watch = Mutex<Watch?>(nil)

  /// From here on, `watcher` is told; on the threads of the fetchers.
  package static func notify(_ watcher: @escaping Watcher) {
    watch.withLock { $0 = Watch(watcher: watcher) }
  }

  /// The same network, watched.
  package static func watching(_ network: FetchNetwork) -> FetchNetwork {
    var watched = network
    let makeTransport = network.transport
    watched.transport = { loop throws(StartError) in WatchedTransport(try makeTransport(loop)) }
    return watched
  }

  fileprivate static func note(_ request: TransferRequest) {
    watch.withLock { $0 }?.watcher(request.addresses, request.proxy?.port ?? request.url.port)
  }
}

/// A transport whose requests are told.
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
