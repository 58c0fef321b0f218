@testable import Attache
@testable import AttacheQueue
@testable import AttacheSenders

/// What a push server sends on a connection, in pieces, to the session that reads HTTP/2.
///
/// - Each request ends exactly once, as answered, as not looked at, as broken, or with the
///   connection.
/// - An answer has a status, and its body and its fields are within their bounds.
/// - What the session says in return is bounded by what it was told.
struct RepliesTarget: Target {
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
  private static let authority = "api.push.example"

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    let requests = 1 + input.number(below: 8)
    let (seed, flags) = (input.byte(), input.byte())
    guard let session = HTTP2Session(authority: Self.authority) else { return check(false, "there is memory for a session") }
    var (fates, output, taken) = ([Int](repeating: 0, count: requests), 0, 0)
    // Half of the inputs come behind settings that are in order.
    var pieces = flags & 1 == 0 ? [Self.settings] : []
    pieces += Pieces(of: input.rest, seed: seed, largest: 60)
    var submitted = 0
    for piece in pieces {
      let fault = unsafe piece.withUnsafeBytes { unsafe session.receive($0) }
      taken += piece.count
      for (request, ending) in session.takeEnded() {
        fates[Int(request.token.id)] += 1
        judge(ending)
      }
      check(fault.map { $0.hasPrefix("HTTP/2: ") } ?? true, "a fault says what it is of")
      if fault != nil { break }
      while submitted < requests, session.room > 0 {
        guard session.submit(request(submitted), authorization: nil, at: MonotonicInstant(nanoseconds: 0)) else { break }
        submitted += 1
      }
      if flags & 2 != 0 { session.expire(openedBefore: MonotonicInstant(nanoseconds: 1)) }
      _ = unsafe session.write { bytes in
        output += bytes.count
        return bytes.count
      }
      check(session.openStreams <= submitted, "no more streams are open than were begun")
    }
    for (request, ending) in session.takeEnded() {
      fates[Int(request.token.id)] += 1
      judge(ending)
    }
    for request in session.takeOpen() { fates[Int(request.token.id)] += 1 }
    check(fates.prefix(submitted).allSatisfy { $0 == 1 }, "each request ends once: \(fates)")
    check(fates.dropFirst(submitted).allSatisfy { $0 == 0 }, "what was not sent does not end: \(fates)")
    check(session.goAwayData.count <= HTTP2Session.maximumBody, "the data of GOAWAY have its bound")
    check(output <= 4_096 * (1 + requests) + 8 * taken, "\(output) bytes are said to \(taken)")
  }

  private func judge(_ ending: HTTP2Session.Ending) {
    switch ending {
    case .answered(let status, let body, let retryAfter):
      check(100...999 ~= status, "an answer has a status: \(status)")
      check(body.count <= HTTP2Session.maximumBody && retryAfter.count <= 32, "an answer has its bounds")
    case .notProcessed: break
    case .broken(let why): check(!why.isEmpty && why.utf8.count < 200, "a broken answer says why: \(why)")
    }
  }

  private func request(_ number: Int) -> PushRequest {
    PushRequest(
      LeaseToken(id: Int64(number), fence: 1), to: .device("00ff"), hasOwnTopic: false,
      body: Array(repeating: UInt8(ascii: "x"), count: 100 * number))
  }
}
