internal import Attache

/// The address of a push service, or of another server that speaks its protocol.
public struct PushEndpoint: Hashable, Sendable {
  /// A host name in lower case without a trailing dot, or an IP address without brackets.
  public var host: String
  /// The TCP port.
  public var port: UInt16

  /// Apple's production server, for apps from the App Store and TestFlight.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
  public static let production = PushEndpoint(host: "api.push.apple.com")
  /// Apple's sandbox server, for apps that Xcode has installed.
  public static let sandbox = PushEndpoint(host: "api.sandbox.push.apple.com")

  /// Firebase Cloud Messaging.
  ///
  /// Source: https://firebase.google.com/docs/reference/fcm/rest
  public static let google = PushEndpoint(host: "fcm.googleapis.com")

  /// Creates an endpoint.
  ///
  /// - Parameters:
  ///   - host: a host name in lower case without a trailing dot, or an IP address without brackets.
  ///     It is not checked.
  ///   - port: the TCP port.
  public init(host: String, port: UInt16 = 443) {
    (self.host, self.port) = (host, port)
  }

  /// Parses `HOST`, `HOST:PORT`, `ADDRESS`, `[ADDRESS]` or `[ADDRESS]:PORT` of at most 300 bytes;
  /// nil for anything else. An IPv6 address needs brackets. The default port is 443.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= 300 else { return nil }
    var name = bytes[...]
    var rest: ArraySlice<UInt8> = []
    let isBracketed = bytes.first == UInt8(ascii: "[")
    if isBracketed {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      (name, rest) = (bytes[1..<end], bytes[(end + 1)...])
    } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      (name, rest) = (bytes[..<colon], bytes[colon...])
    }
    if rest.isEmpty {
      port = 443
    } else {
      let digits = rest.dropFirst()
      guard rest.first == UInt8(ascii: ":"), 1...5 ~= digits.count, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
        let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0
      else { return nil }
      port = number
    }
    host = String(decoding: name, as: UTF8.self).lowercased()
    if host.utf8.last == UInt8(ascii: ".") { host.removeLast() }
    switch IPAddress(host) {
    case .v6: guard isBracketed else { return nil }
    case .v4: guard !isBracketed else { return nil }
    case nil: guard !isBracketed, Self.isName(host) else { return nil }
    }
  }

  /// The IP address, when the host is one.
  var address: IPAddress? { IPAddress(host) }

  /// The value of `:authority`, and the server's name in messages. Port 443 is left out.
  package var authority: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }

  /// Whether a name consists of labels of letters, digits, hyphens and underscores, each of 1 to 63
  /// bytes, in at most 253 bytes.
  private static func isName(_ name: String) -> Bool {
    guard !name.isEmpty, name.utf8.count <= 253 else { return false }
    return name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
      1...63 ~= label.count
        && label.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
          default: false
          }
        }
    }
  }
}
