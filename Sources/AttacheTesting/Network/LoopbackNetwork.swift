internal import Attache

extension FetchNetwork {
  /// The same network, of which loopback alone is reached: a payload of a stranger's scenario may
  /// name any address.
  ///
  /// - Parameter refused: told of each address that was refused, with its port; on the threads of
  ///   the fetchers.
  func onLoopback(refused: @escaping @Sendable (IPAddress, UInt16) -> Void) -> FetchNetwork {
    var network = self
    let makeTransport = transport
    network.transport = { loop throws(StartError) in LoopbackTransport(try makeTransport(loop), refused: refused) }
    return network
  }
}

/// A transport that begins no exchange beyond loopback.
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
