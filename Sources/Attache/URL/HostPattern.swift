/// A pattern for hosts, as a flag gives it.
///
/// - `example.com` matches only that host.
/// - `*.example.com` matches every host below it, at any depth, but not `example.com` itself.
/// - `.example.com` matches `example.com` and every host below it.
/// - `192.0.2.7`, `2001:db8::7` or `[2001:db8::7]` matches a URL that contains that address, not a
///   name that resolves to it.
///
/// Case is ignored, and so is one trailing dot.
public struct HostPattern: Hashable, Sendable {
  private enum Form: Hashable {
    case exact
    case below
    case exactAndBelow
  }

  private let form: Form
  private let host: String

  /// Parses a pattern.
  ///
  /// - Throws: ``HostPatternError`` when the text without `*.` or `.` is not a host.
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
      throw HostPatternError(description: "'\(text)' is not a host pattern: \(error.message)")
    }
  }

  /// Returns whether the pattern matches a host that is written as in ``CheckedURL/host``.
  public func matches(_ host: String) -> Bool {
    switch form {
    case .exact: host == self.host
    case .below: host.hasSuffix("." + self.host)
    case .exactAndBelow: host == self.host || host.hasSuffix("." + self.host)
    }
  }
}

extension HostPattern: CustomStringConvertible {
  /// The pattern as a flag gives it.
  public var description: String {
    switch form {
    case .exact: host
    case .below: "*." + host
    case .exactAndBelow: "." + host
    }
  }
}

/// The reason why a text is not a host pattern. `description` is a message for the user.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message for the user.
  public let description: String
}
