internal import CAres

/// The reason why no name can be resolved.
package enum AresError: Error, Hashable, Sendable, CustomStringConvertible {
  /// c-ares could not be initialised. `code` is its error code; see ares_strerror(3).
  case unavailable(code: Int32)
  /// A name server is not in the form `ADDRESS:PORT`. An IPv6 address needs brackets.
  case badServer(String)

  package var description: String {
    switch self {
    case .unavailable(ARES_ENOMEM): "c-ares: \(SystemError.noMemory)"
    case .unavailable(let code): "c-ares: \(unsafe String(cString: ares_strerror(code)))"
    case .badServer(let text): "\(text): not a name server's ADDRESS:PORT"
    }
  }

  /// Returns on success. Throws ``unavailable(code:)`` for any other code.
  static func check(_ code: Int32) throws(AresError) {
    guard code == ARES_SUCCESS else { throw .unavailable(code: code) }
  }
}
