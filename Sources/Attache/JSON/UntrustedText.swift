internal import Glibc

/// Text from an untrusted source, such as the URLs and names in a payload. Two texts are equal when
/// their UTF-8 bytes are equal.
///
/// `String` compares by canonical equivalence. It treats U+037E as `;`, a decomposed letter as a
/// composed one, and CR LF as one character, and needs quadratic time for a run of combining marks.
/// So this type has no `hasPrefix`, `contains` or `split`: use ``utf8``.
public struct UntrustedText: Hashable, Sendable {
  /// The text as a `String`, for output only. Do not compare it, search it, or use it as a key.
  public let string: String

  /// Makes an untrusted text from a string.
  public init(_ string: String) {
    self.string = string
  }

  /// Decodes UTF-8. Invalid UTF-8 becomes U+FFFD.
  package init(decoding bytes: some Collection<UInt8>) {
    string = String(decoding: bytes, as: UTF8.self)
  }

  /// The UTF-8 bytes of the text.
  public var utf8: String.UTF8View { string.utf8 }
  /// Whether the text has no bytes.
  public var isEmpty: Bool { string.isEmpty }

  /// The text with ASCII letters in lower case. `String.lowercased()` also converts U+212A to `k`.
  var lowercasedASCII: UntrustedText {
    UntrustedText(decoding: utf8.map(\.lowercasedASCII))
  }

  /// Returns the text in lower case if it is ASCII and has at most `maximumBytes`; otherwise nil.
  ///
  /// `String` compares only ASCII text by its bytes, so the result may be compared with words and
  /// looked up in tables.
  package func lowercasedWord(maximumBytes: Int) -> String? {
    guard utf8.count <= maximumBytes, utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    return lowercasedASCII.string
  }

  public static func == (left: UntrustedText, right: UntrustedText) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return unsafe left.withBytes { left in unsafe right.withBytes { right in unsafe left.isEqual(to: right) } }
  }

  public func hash(into hasher: inout Hasher) {
    unsafe withBytes { unsafe hasher.combine(bytes: $0) }
    // UTF-8 never contains this byte, so a text and the value hashed after it cannot equal another
    // pair.
    hasher.combine(0xFF as UInt8)
  }

  /// Returns whether the text has these bytes.
  func isEqual(to other: ArraySlice<UInt8>) -> Bool {
    unsafe withBytes { bytes in unsafe other.withUnsafeBytes { other in unsafe bytes.count == other.count && bytes.isEqual(to: other) } }
  }

  /// Returns whether the text starts with `word`, byte for byte.
  package func starts(with word: StaticString) -> Bool {
    unsafe withBytes { bytes in
      unsafe bytes.count >= word.utf8CodeUnitCount
        && UnsafeRawBufferPointer(rebasing: bytes.prefix(word.utf8CodeUnitCount))
          .isEqual(to: UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }
  }

  package func followed(by other: UntrustedText) -> UntrustedText {
    UntrustedText(string + other.string)
  }

  /// Returns the JSON pointer to the child of that name, if this text is a JSON pointer.
  package func appending(_ name: UntrustedText) -> UntrustedText {
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
  /// Returns whether the bytes equal those of another buffer of the same length.
  fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard let base = baseAddress, let otherBase = other.baseAddress else { return true }
    return unsafe memcmp(base, otherBase, count) == 0
  }
}
