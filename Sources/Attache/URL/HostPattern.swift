/// Which hosts a flag means.
///
/// - `example.com` is that host alone.
/// - `*.example.com` is every host below it, at any depth, and not `example.com` itself.
/// - `.example.com` is `example.com` and every host below it.
/// - `192.0.2.7`, `2001:db8::7` or `[2001:db8::7]` is a URL that names that address (not a name
///   that leads there).
///
/// Letters count alike in both cases, and one trailing dot is ignored.
public struct HostPattern: Hashable, Sendable {
  private enum Form: Hashable {
    case exact
    case below
    case exactAndBelow
  }

  private let form: Form
  private let host: String

  /// Reads a pattern.
  ///
  /// - Throws: ``HostPatternError`` when what is left beside `*.` or `.` is no host.
  public init(_ text: String) throws(HostPatternError) {
    let bare = text.first == "[" && text.last == "]" ? String(text.dropFirst().dropLast()) : text
    if let address = IPAddress(bare) {
      form = .exact
      host = address.description
      return
    }
    var name = Array(text.utf8)[...]
    if name.starts(with: "*.".utf8) {
      form = .below
      name = name.dropFirst(2)
    } else if name.first == UInt8(ascii: ".") {
      form = .exactAndBelow
      name = name.dropFirst()
    } else {
      form = .exact
    }
    do throws(Refusal) {
      host = try HostName(name).text
    } catch {
      throw HostPatternError(description: "'\(text)' is no host pattern: \(error.message)")
    }
  }

  /// Whether the pattern means a host, written as in ``CheckedURL/host``.
  public func matches(_ host: String) -> Bool {
    switch form {
    case .exact: host == self.host
    case .below: host.hasSuffix("." + self.host)
    case .exactAndBelow: host == self.host || host.hasSuffix("." + self.host)
    }
  }
}

/// Why a text is no host pattern; `description` is the sentence for the user.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
}
