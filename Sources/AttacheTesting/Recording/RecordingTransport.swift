internal import Attache

/// A transport that reports the origins' actions and their times to a recorder.
final class RecordingTransport: Transport {
  private let transport: any Transport
  private let recorder: Recorder
  private let machine: any Machine

  init(_ transport: any Transport, recorder: Recorder, machine: any Machine) {
    self.transport = transport
    self.recorder = recorder
    self.machine = machine
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer {
    let witness = TransferWitness(of: request.url, for: owner, recorder: recorder, machine: machine)
    let transfer = RecordingTransfer(try transport.begin(request, for: witness), witness: witness)
    witness.transfer = transfer
    return transfer
  }

  func deliverEnds() {
    transport.deliverEnds()
  }

  func shutdown() {
    transport.shutdown()
  }
}

/// A transfer that keeps its witness alive.
final class RecordingTransfer: Transfer {
  private let transfer: any Transfer
  private let witness: TransferWitness

  init(_ transfer: any Transfer, witness: TransferWitness) {
    self.transfer = transfer
    self.witness = witness
  }

  var times: TransferTimes { transfer.times }

  var isSent: Bool { transfer.isSent }

  func resume() -> Bool {
    transfer.resume()
  }

  var fault: Reason? { transfer.fault }

  func cancel() {
    transfer.cancel()
    witness.wasCancelled()
  }
}

/// Sits between a transfer and its owner and records the events. Use it on the loop only.
final class TransferWitness: TransferOwner {
  private weak var owner: (any TransferOwner)?
  private let recorder: Recorder
  private let machine: any Machine
  private let index: Int
  private let begin: MonotonicInstant
  /// The time at which the request was sent.
  private var asked: MonotonicInstant?
  private var isUnwanted = false
  private var isOver = false
  /// The bytes that determine the type of the body.
  private var prefix: [UInt8] = []
  weak var transfer: RecordingTransfer?

  init(of url: CheckedURL, for owner: any TransferOwner, recorder: Recorder, machine: any Machine) {
    self.owner = owner
    self.recorder = recorder
    self.machine = machine
    begin = machine.now
    index = recorder.begin(
      RecordedExchange(isSecure: url.scheme == .https, host: url.host, port: url.port, path: String(url.target.prefix { $0 != "?" })))
  }

  func transferReceivedHead(_ head: Attache.ResponseHead) -> Bool {
    let times = transfer?.times ?? TransferTimes()
    asked = begin.advanced(by: (times.connect ?? .zero) + (times.tls ?? .zero))
    recorder.change(index) { $0.head = RecordedExchange.Head(head, at: sinceAsked) }
    let isWanted = owner?.transferReceivedHead(head) ?? false
    isUnwanted = !isWanted
    return isWanted
  }

  func transferReceivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
    let verdict = unsafe owner?.transferReceivedBody(bytes) ?? .stop
    switch verdict {
    case .pause: return verdict
    case .stop: isUnwanted = true
    case .take: break
    }
    let room = TypeDetector.prefixLength - prefix.count
    if room > 0 { unsafe prefix += bytes.prefix(room) }
    recorder.change(index) { exchange in
      exchange.pieces.append(RecordedExchange.Piece(at: sinceAsked, count: bytes.count))
      if recorder.keptBytes > exchange.body.count { unsafe exchange.body += bytes }
    }
    return verdict
  }

  func transferEnded(_ end: TransferEnd) {
    conclude(end.failure.map { isUnwanted ? .complete : .broken($0) } ?? .complete, retryAfter: end.retryAfter)
    owner?.transferEnded(end)
  }

  func wasCancelled() {
    conclude(isUnwanted ? .complete : .abandoned, retryAfter: nil)
  }

  private func conclude(_ end: RecordedExchange.End, retryAfter: Duration?) {
    guard !isOver else { return }
    isOver = true
    let detection = prefix.isEmpty ? nil : detect()
    recorder.change(index) { exchange in
      exchange.end = end
      if let retryAfter { exchange.head?.fields.append(HeaderField("Retry-After", "\(retryAfter.components.seconds)")) }
      switch detection {
      case .accepted(let type)?: exchange.type = type
      case .refused(let reason, _)?: exchange.refusal = reason
      case .undecided?: exchange.refusal = .typeDetector
      case nil: break
      }
    }
  }

  private func detect() -> Detection? {
    guard let detector = try? TypeDetector() else { return nil }
    return unsafe prefix.withUnsafeBytes { unsafe detector.detect($0, isComplete: prefix.count < TypeDetector.prefixLength) }
  }

  private var sinceAsked: Duration {
    max(.zero, (asked ?? begin).duration(to: machine.now))
  }
}

extension RecordedExchange.Head {
  /// Keeps the fields of a head that attache uses.
  fileprivate init(_ head: Attache.ResponseHead, at: Duration) {
    var fields = head.contentEncodings.map { HeaderField("Content-Encoding", $0.string) }
    if let tag = head.entityTag { fields.append(HeaderField("ETag", tag.string)) }
    if let range = head.contentRange { fields.append(HeaderField("Content-Range", range.string)) }
    if !head.acceptsRanges { fields.append(HeaderField("Accept-Ranges", "none")) }
    let lengths = head.contentLengths.map { HeaderField("Content-Length", $0.string) }
    let codings = head.transferEncodings.map { HeaderField("Transfer-Encoding", $0.string) }
    // Swift's own initialiser would accept a sign.
    let length = head.contentLengths.first.flatMap { text in
      text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text.string) : nil
    }
    // Chunks take precedence over one length.
    let isChunked = head.isChunked && lengths.count <= 1
    let isPlain = codings.isEmpty && (lengths.isEmpty || lengths.count == 1 && length != nil)
    // Contradictory framing fields are kept unchanged.
    if isChunked { fields += lengths } else if !isPlain { fields += lengths + codings }
    let locations = head.locations.map { String(decoding: $0, as: UTF8.self) }
    fields += locations.dropFirst().map { HeaderField("Location", $0) }
    // Of other statuses, the header decides nothing. A rehearsal has nothing cached, so nothing asks
    // for a 304.
    let isJudged = [200, 206, 301, 302, 303, 307, 308].contains(head.status)
    // HTTP/1.0 has no transfer codings.
    let isImpossible = head.isHTTP10 && head.status == 200 && !codings.isEmpty
    self.init(
      at: at, status: head.status, length: isPlain ? length : nil, isChunked: isChunked, location: locations.first,
      fields: fields.filter { !$0.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) },
      isAmbiguous: isJudged && head.isAmbiguous || isImpossible)
  }
}
