/// A gate's refusal: what was refused, by which rule, and what would allow it.
public struct Refusal: Error, Hashable, Sendable {
  /// The code for the report, mostly one of the `policy` family.
  public var reason: Reason
  /// A line for the user: what was refused, the rule with its source, and the flag that would allow
  /// it, if any. Bytes of a payload appear in it only as printable ASCII.
  public var message: String
  /// The flag that would allow it; nil when no flag would, or when the message covers several
  /// rules.
  var remedy: Remedy?

  /// Makes a refusal from its code and message.
  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// Makes a refusal from its code, what is refused by which rule, and what would allow it.
  init(_ reason: Reason, _ fault: String, remedy: Remedy) {
    self.init(reason, "\(fault); \(remedy.flags) would allow it")
    self.remedy = remedy
  }

  /// The message without the part about what would allow it.
  private var fault: String {
    remedy.map { String(message.dropLast("; \($0.flags) would allow it".count)) } ?? message
  }
}

extension Refusal {
  /// The change that would allow what was refused.
  enum Remedy: Hashable, Sendable {
    case plainHTTP
    case port(UInt16)
    case host(String)
    case nets([CIDR])

    /// The flags, as on the command line.
    var flags: String {
      switch self {
      case .plainHTTP: "--allow-http"
      case .port(let port): "--allow-port \(port)"
      case .host(let host): "--allow-host \(host)"
      case .nets(let nets): nets.map { "--allow-net \($0)" }.joined(separator: " ")
      }
    }

    /// Changes a policy as the flags would.
    func open(_ policy: inout URLPolicy) {
      switch self {
      case .plainHTTP: policy.allowHTTP = true
      case .port(let port): policy.allowedPorts.append(port...port)
      case .host: policy.allowedHosts = []
      case .nets(let nets): policy.allowedNets += nets
      }
    }
  }

  /// Combines refusals, each of which appears when the previous one is allowed. The message names
  /// all flags at once, so that a user does not add one flag only to get the next refusal.
  static func joined(_ refusals: [Refusal]) -> Refusal? {
    guard let first = refusals.first, let last = refusals.last, refusals.count > 1 else { return refusals.first }
    let flags = refusals.compactMap(\.remedy?.flags).joined(separator: " ")
    guard last.remedy == nil else {
      return Refusal(first.reason, "\(refusals.map(\.fault).joined(separator: ", and ")); \(flags) would allow it")
    }
    return Refusal(
      first.reason, "\(refusals.dropLast().map(\.fault).joined(separator: ", and ")), which \(flags) would allow; and \(last.message)")
  }
}

extension Refusal {
  /// Makes hostile bytes safe for a message: keeps printable ASCII, writes any other byte as
  /// `\xNN`, and cuts the text after `limit` characters.
  static func quote(_ bytes: some Collection<UInt8>, limit: Int = 80) -> String {
    var text = ""
    for byte in bytes {
      let isPrintable = byte >= 0x20 && byte < 0x7F
      guard text.utf8.count + (isPrintable ? 1 : 4) <= limit else { return text + "…" }
      if isPrintable {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text
  }
}
