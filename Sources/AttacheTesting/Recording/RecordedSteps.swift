internal import Attache

extension RecordedExchange {
  /// Pieces that arrive within this time of each other are merged.
  private static let sameMoment = Duration.milliseconds(10)
  /// A step within this time of the previous one runs immediately.
  private static let atOnce = Duration.milliseconds(5)
  /// The maximum number of sends in a response, because people read scenarios.
  private static let maximumSends = 20

  /// Returns the origin's behavior as steps.
  func steps(origins: RecordedOrigins, media: inout RecordedMedia) -> [OriginStep] {
    if case .broken(let reason) = end, let text = Self.text(thatIs: reason) { return [OriginStep(.raw(text))] }
    guard let head else { return headless }
    let medium = received > 0 ? media.medium(for: self, size: max(head.length ?? received, received)) : nil
    let timed = headSteps(head, origins, medium).map { ($0, head.at) } + (head.isAmbiguous ? [] : bodySteps(medium))
    var moment = Duration.zero
    return timed.map { action, at in
      guard at - moment >= Self.atOnce else { return OriginStep(action) }
      moment = at
      return OriginStep(action, at: at.rounded)
    } + ending
  }

  /// Returns a response that fails for the same reason. The original fault is not recorded.
  private static func text(thatIs reason: Reason) -> String? {
    switch reason {
    case .httpFraming: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"
    case .httpHeaders: "HTTP/1.1 200 OK\r\nX: {{pad 200000}}\r\n\r\n"
    case .policyRedirect: "HTTP/1.1 302 Found\r\nno field\r\n\r\n"
    default: nil
    }
  }

  private var headless: [OriginStep] {
    switch end {
    case .abandoned: [OriginStep(.stall)]
    case .broken(.httpProtocol): [OriginStep(.raw("not HTTP\r\n"))]
    case .broken, .complete: [OriginStep(.reset)]
    }
  }

  private func headSteps(_ head: Head, _ origins: RecordedOrigins, _ medium: Medium?) -> [OriginStep.Action] {
    // A step has no field that continues on another line.
    if head.isAmbiguous { return [.raw("HTTP/1.1 \(head.status) Ambiguous\r\nX: a field\r\n on two lines\r\nContent-Length: 0\r\n\r\n")] }
    var steps: [OriginStep.Action] = []
    if head.status != (head.location == nil ? 200 : 302) { steps.append(.status(head.status)) }
    if let location = head.location { steps.append(.redirect(origins.replacing(Placeholder.escaped(location)))) }
    steps += head.fields.map { .header(name: $0.name, value: Placeholder.escaped($0.value)) }
    if let length = length(head, medium) { steps.append(.length(length)) }
    return steps
  }

  /// Returns the declared length, where it differs from what an origin declares for the bytes it
  /// sends.
  private func length(_ head: Head, _ medium: Medium?) -> OriginStep.Length? {
    if head.isChunked { return .chunked }
    guard let length = head.length else { return received > 0 ? .absent : nil }
    return (medium?.bytes.count ?? received) == length ? nil : .bytes(min(length, ScenarioField.largestSize))
  }

  /// Returns the pieces as sends of one medium, each with its time. If the body is whole, the last
  /// send sends the rest. A body without a medium is written out.
  private func bodySteps(_ medium: Medium?) -> [(OriginStep.Action, Duration)] {
    let moments = mergedPieces
    var sent = 0
    return moments.enumerated().compactMap { index, piece in
      defer { sent += piece.count }
      guard let medium else { return sent + piece.count <= body.count ? (.hex(Array(body[sent..<sent + piece.count])), piece.at) : nil }
      let isRest = index == moments.count - 1 && received == medium.bytes.count
      return (.send(medium, count: isRest ? nil : piece.count), piece.at)
    }
  }

  /// The pieces, merged when they arrive at the same time. For a long drip, neighbours are merged
  /// until at most ``maximumSends`` are left.
  private var mergedPieces: [Piece] {
    var gap = Self.sameMoment
    while true {
      var merged: [Piece] = []
      for piece in pieces {
        if let last = merged.last, piece.at - last.at < gap {
          merged[merged.count - 1].count += piece.count
        } else {
          merged.append(piece)
        }
      }
      if merged.count <= Self.maximumSends { return merged }
      gap *= 2
    }
  }

  private var ending: [OriginStep] {
    switch end {
    case .complete: []
    case .broken: [OriginStep(.close)]
    case .abandoned: [OriginStep(.stall)]
    }
  }
}

extension Duration {
  /// The duration in whole milliseconds.
  fileprivate var rounded: Duration {
    .milliseconds((nanoseconds + 500_000) / 1_000_000)
  }
}
