import Glibc
import Testing

@testable import Attache

@Suite struct OriginHealthSignalTests {
  @Test(arguments: Reason.allCases) func `only what a peer says is a sign of life`(_ reason: Reason) {
    let sign = OriginHealthSignal(TransferEnd(failure: reason, times: TransferTimes(), retryAfter: nil))
    switch reason {
    case .connectRefused, .connectFailed: #expect(sign == .absence)
    case .connectReset, .httpTruncated: #expect(sign == .silence)
    case .tlsCertificate, .tlsHost, .tlsVersion, .tlsHandshake, .httpProtocol, .httpHeaders, .httpFraming: #expect(sign == .life)
    default: #expect(sign == nil, "it says nothing about the origin")
    }
  }

  @Test func `a handshake that nobody answers is no sign of life`() {
    #expect(
      OriginHealthSignal(TransferEnd(failure: .tlsHandshake, isUnanswered: true, times: TransferTimes(), retryAfter: nil)) == .absence)
  }

  @Test(arguments: [Reason.connectFailed, .tlsHandshake]) func `a timeout that the budget cut short says nothing`(_ reason: Reason) {
    func sign(_ milliseconds: Int) -> OriginHealthSignal? {
      OriginHealthSignal(
        TransferEnd(failure: reason, isUnanswered: true, timeout: .milliseconds(milliseconds), times: TransferTimes(), retryAfter: nil))
    }
    #expect(sign(23) == nil && sign(999) == nil)
    #expect(sign(1_000) == .absence && sign(10_000) == .absence)
  }

  @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL, ENETUNREACH]) func `a failure of this machine says nothing`(
    _ error: Int32
  ) {
    #expect(OriginHealthSignal(TransferEnd(failure: .connectFailed, localError: error, times: TransferTimes(), retryAfter: nil)) == nil)
  }

  @Test(arguments: [200, 204, 301, 404, 429, 500, 501, 505]) func `a status is a sign of life`(_ status: Int) {
    #expect(OriginHealthSignal(status: status) == .life)
  }

  @Test(arguments: [502, 503, 504]) func `a gateway without an origin is none`(_ status: Int) {
    #expect(OriginHealthSignal(status: status) == .silence)
  }
}
