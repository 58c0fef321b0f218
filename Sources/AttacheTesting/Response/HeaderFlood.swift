/// An HTTP/2 header block that tries to exhaust its reader (RFC 9113, 4.3 and 10.5.1), or a server
/// push that was not requested (8.4).
public enum HeaderFlood: String, Sendable, CaseIterable {
  /// A header block that continues in CONTINUATION frames without end.
  case continuations
  /// A header block of 16 KB. Each byte refers to the same 4,000-byte field in HPACK's table, which
  /// makes 64 MB.
  case bomb = "header-bomb"
  /// A PUSH_PROMISE although the client has disabled push (SETTINGS_ENABLE_PUSH is 0).
  case push = "push-promise"

  private static let (headers, pushPromise, continuation): (UInt8, UInt8, UInt8) = (0x1, 0x5, 0x9)
  private static let endHeaders: UInt8 = 0x4
  /// `:status: 200` of HPACK's static table, and the first entry of the dynamic table (RFC 7541,
  /// 6.1).
  private static let (status200, newest): (UInt8, UInt8) = (0x88, 0xBE)

  /// Returns the frame that starts the block.
  func opening(on stream: Int) -> [UInt8] {
    switch self {
    case .push:
      // Stream 2: GET, https, / and an authority of one letter (RFC 7541, appendix A).
      Self.frame(Self.pushPromise, flags: Self.endHeaders, stream, [0, 0, 0, 2, 0x82, 0x87, 0x84, 0x41, 0x01, UInt8(ascii: "a")])
    case .continuations: Self.frame(Self.headers, flags: 0, stream, [Self.status200])
    case .bomb:
      // A literal that is added to the table (0x40), its name, and its value, whose length of 4,000
      // takes three bytes (RFC 7541, 5.1).
      Self.frame(
        Self.headers, flags: Self.endHeaders, stream,
        [Self.status200, 0x40, 0x01, UInt8(ascii: "x"), 0x7F, 0xA1, 0x1E] + [UInt8](repeating: UInt8(ascii: "f"), count: 4_000)
          + [UInt8](repeating: Self.newest, count: 12_000))
    }
  }

  /// Whether frames follow without end.
  var goesOn: Bool { self == .continuations }

  /// Returns the frame that follows.
  func sequel(on stream: Int) -> [UInt8] {
    // A literal that is not added to the table: a name of six bytes and a value of a hundred.
    let field = [0x00, 0x06] + Array("x-more".utf8) + [0x64] + [UInt8](repeating: UInt8(ascii: "f"), count: 100)
    return Self.frame(Self.continuation, flags: 0, stream, field)
  }

  /// Returns an HTTP/2 frame (RFC 9113, 4.1).
  static func frame(_ type: UInt8, flags: UInt8, _ stream: Int, _ payload: [UInt8]) -> [UInt8] {
    let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
    let identifier = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
    return length + [type, flags] + identifier + payload
  }
}
