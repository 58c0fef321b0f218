internal import Attache

extension FetchNetwork {
  /// Returns the same network, restricted to loopback, because a payload in an untrusted scenario
  /// can name any address.
  ///
  /// - Parameter refused: called with each refused address and its port, on the fetchers' threads.
  func onLoopback(refused: @escaping @Sendable (IPAddress, UInt16) -> Void) -> FetchNetwork {
    var network = self
    let makeTransport = transport
    network.transport = { loop throws(StartError) in LoopbackTransport(try makeTransport(loop), refused: refused) }
    return network
  }
}

/// A transport that starts exchanges on loopback only.
private final class LoopbackTransport: Transport {
  private let transport: any Transport
  private let refused: @Sendable (IPAddress, UInt16) -> Void

  init(_ transport: any Transport, refused: @escaping @Sendable (IPAddress, UInt16) -> Void) {
    self.transport = transport
    self.refused = refused
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer {
    if let address = request.addresses.first(where: { !$0.isLoopback }) {
      refused(address, request.proxy?.port ?? request.url.port)
      throw TransportError("\(address) is not on loopback")
    }
    return try transport.begin(request, for: owner)
  }

  func deliverEnds() {
    transport.deliverEnds()
  }

  func shutdown() {
    transport.shutdown()
  }
}
