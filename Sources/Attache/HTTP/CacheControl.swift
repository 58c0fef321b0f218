/// The Cache-Control directives of a response that apply to a shared cache (RFC 9111, section
/// 5.2.2).
///
/// When directives contradict each other, or one is repeated, the stricter one applies. A directive
/// with a list of field names (`private="…"`, `no-cache="…"`) counts as one without the list,
/// as the RFC permits.
struct CacheControl: Hashable, Sendable {
  /// The longest lifetime, in seconds (RFC 9111, 1.2.2). Larger values are reduced to it.
  static let maximumSeconds: Int64 = 1 << 31

  var noStore = false
  var isPrivate = false
  var noCache = false
  /// The value of `max-age` in seconds. An invalid value counts as 0, so that the response is stale
  /// (RFC 9111, 4.2.1).
  var maximumAge: Int64?
  /// The value of `s-maxage` in seconds. A shared cache uses it instead of `max-age`.
  var sharedMaximumAge: Int64?

  /// Parses the value of one field line. The values of several lines are combined.
  mutating func add(_ value: [UInt8]) {
    var rest = value[...]
    while let directive = Self.nextMember(&rest) {
      let name = directive.prefix { $0 != UInt8(ascii: "=") }
      let argument = directive[name.endIndex...].dropFirst()
      if Self.names(name, "no-store") {
        noStore = true
      } else if Self.names(name, "private") {
        isPrivate = true
      } else if Self.names(name, "no-cache") {
        noCache = true
      } else if Self.names(name, "max-age") {
        maximumAge = min(maximumAge ?? .max, Self.seconds(argument))
      } else if Self.names(name, "s-maxage") {
        sharedMaximumAge = min(sharedMaximumAge ?? .max, Self.seconds(argument))
      }
    }
  }

  /// Returns the next member of a list (RFC 9110, 5.6.1) without the blanks around it. A comma
  /// within quotes does not end a member.
  private static func nextMember(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    while let first = rest.first, first == UInt8(ascii: ",") || first.isBlank { rest.removeFirst() }
    guard !rest.isEmpty else { return nil }
    var (end, isQuoted, isEscaped) = (rest.startIndex, false, false)
    while end < rest.endIndex, isQuoted || rest[end] != UInt8(ascii: ",") {
      if rest[end] == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && rest[end] == UInt8(ascii: "\\")
      end += 1
    }
    var member = rest[..<end]
    rest = rest[end...]
    while member.last?.isBlank == true { member.removeLast() }
    return member
  }

  /// Parses delta seconds (RFC 9111, 1.2.2), with or without quotes. An invalid value counts as 0.
  private static func seconds(_ argument: ArraySlice<UInt8>) -> Int64 {
    let quote = UInt8(ascii: "\"")
    let isQuoted = argument.count >= 2 && argument.first == quote && argument.last == quote
    return CacheFields.deltaSeconds(isQuoted ? argument.dropFirst().dropLast() : argument) ?? 0
  }

  /// Returns whether the bytes equal this name, ignoring case.
  private static func names(_ bytes: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
    unsafe bytes.count == name.utf8CodeUnitCount
      && zip(bytes, UnsafeBufferPointer(start: name.utf8Start, count: bytes.count)).allSatisfy { $0.lowercasedASCII == $1 }
  }
}
