internal import CAres

/// Why names cannot be resolved at all.
package enum AresError: Error, Hashable, Sendable, CustomStringConvertible {
  /// c-ares could not be set up; its own number, as ares_strerror(3) explains it.
  case unavailable(code: Int32)
  /// A name server that is not written as `ADDRESS:PORT`; an IPv6 address stands in brackets.
  case badServer(String)

  package var description: String {
    switch self {
    case .unavailable(let code): "c-ares: \(unsafe String(cString: ares_strerror(code)))"
    case .badServer(let text): "\(text): not a name server's ADDRESS:PORT"
    }
  }

  /// Passes success on as nothing, anything else as ``unavailable(code:)``.
  static func check(_ code: Int32) throws(AresError) {
    guard code == ARES_SUCCESS else { throw .unavailable(code: code) }
  }
}
