internal import Glibc

/// Text from strangers, such as the URLs and names in a payload: two are equal when their UTF-8
/// bytes are.
///
/// `String` compares by canonical equivalence. It takes U+037E for `;` and a decomposed letter for
/// a composed one, takes CR LF for one character, and needs quadratic time for a run of combining
/// marks. So this type has no `hasPrefix`, `contains` or `split`: read ``utf8``.
public struct UntrustedText: Hashable, Sendable {
  /// The same text as a `String`, to write it; never to compare it, search it or use it as a key.
  public let string: String

  public init(_ string: String) {
    self.string = string
  }

  /// Decodes UTF-8; what is no UTF-8 becomes U+FFFD.
  init(decoding bytes: some Collection<UInt8>) {
    string = String(decoding: bytes, as: UTF8.self)
  }

  public var utf8: String.UTF8View { string.utf8 }
  public var isEmpty: Bool { string.isEmpty }

  /// The same with the letters of ASCII in lower case. `String.lowercased()` makes a `k` of U+212A
  /// too.
  var lowercasedASCII: UntrustedText {
    UntrustedText(decoding: utf8.map(\.lowercasedASCII))
  }

  /// The text with its letters in lower case, when it is ASCII and has at most `maximumBytes`; nil
  /// for any other.
  ///
  /// ASCII is the one text that `String` compares by its bytes, so the result may be compared with
  /// words and looked up in tables.
  func lowercasedWord(maximumBytes: Int) -> String? {
    guard utf8.count <= maximumBytes, utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    return lowercasedASCII.string
  }

  public static func == (left: UntrustedText, right: UntrustedText) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return unsafe left.withBytes { left in unsafe right.withBytes { right in unsafe left.isEqual(to: right) } }
  }

  public func hash(into hasher: inout Hasher) {
    unsafe withBytes { unsafe hasher.combine(bytes: $0) }
    // No UTF-8 has this byte: a text and what is hashed after it cannot pass for another pair.
    hasher.combine(0xFF as UInt8)
  }

  /// Whether the text starts with a word, byte for byte.
  func starts(with word: StaticString) -> Bool {
    unsafe withBytes { bytes in
      unsafe bytes.count >= word.utf8CodeUnitCount
        && UnsafeRawBufferPointer(rebasing: bytes.prefix(word.utf8CodeUnitCount))
          .isEqual(to: UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }
  }

  func followed(by other: UntrustedText) -> UntrustedText {
    UntrustedText(string + other.string)
  }

  /// The JSON pointer to the child of that name, where this is one itself.
  func appending(_ name: UntrustedText) -> UntrustedText {
    UntrustedText(string + JSONPointer.part(name).string)
  }

  private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var text = string
    return text.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
  }
}

extension UntrustedText: ExpressibleByStringInterpolation, CustomStringConvertible {
  public init(stringLiteral value: String) {
    self.init(value)
  }

  public var description: String { string }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes are those of another buffer of the same length.
  fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard let base = baseAddress, let otherBase = other.baseAddress else { return true }
    return unsafe memcmp(base, otherBase, count) == 0
  }
}
