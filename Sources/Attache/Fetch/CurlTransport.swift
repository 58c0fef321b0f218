internal import CCurl

/// libcurl as the transport: its multi handle, and easy handles that serve again.
final class CurlTransport: Transport {
  /// Handles kept for the next exchange.
  private static let idleTransfers = 64

  private let gate: AddressGate
  private let rootCertificates: String?
  private let multi: CurlMulti
  private var idle: [CurlTransfer] = []

  /// - Parameters:
  ///   - gate: asked about the address of every socket.
  ///   - rootCertificates: a file in PEM form instead of the system's roots.
  /// - Throws: ``CurlError`` when libcurl cannot be set up, or refuses an option.
  init(loop: EventLoop, gate: AddressGate, rootCertificates: String?) throws(CurlError) {
    self.gate = gate
    self.rootCertificates = rootCertificates
    multi = try CurlMulti(loop: loop)
    idle = [try CurlTransfer(multi: multi, gate: gate, rootCertificates: rootCertificates)]
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer {
    do {
      let transfer = try idle.popLast() ?? CurlTransfer(multi: multi, gate: gate, rootCertificates: rootCertificates)
      try transfer.prepare(request, for: owner)
      try multi.add(transfer)
      return transfer
    } catch {
      throw TransportError("\(error)")
    }
  }

  func deliverEnds() {
    multi.deliverEnds { transfer, code in
      if transfer.metSurplus, beginAgain(transfer) { return }
      let (owner, end) = transfer.conclude(code)
      // Before its owner is told, who may begin another exchange at once.
      if transfer.isReusable, idle.count < Self.idleTransfers { idle.append(transfer) }
      owner?.transferEnded(end)
    }
  }

  /// Begins an exchange again that has not asked anything yet; a new connection holds nothing, so that once is enough.
  private func beginAgain(_ transfer: CurlTransfer) -> Bool {
    do {
      try transfer.startOver()
      try multi.add(transfer)
      return true
    } catch {
      return false
    }
  }

  func shutdown() {
    multi.shutdown()
  }
}
