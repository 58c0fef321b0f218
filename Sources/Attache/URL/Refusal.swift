/// A gate's "no": what was refused, by which rule, and what would allow it.
public struct Refusal: Error, Hashable, Sendable {
  /// The code for the report, mostly one of the `policy` family.
  public var reason: Reason
  /// One line for a person: the thing refused, the rule with its source, the flag that would allow
  /// it if there is one. Bytes of a payload stand in it only as printable ASCII.
  public var message: String
  /// The flag that would allow it; nil when none would, or when the message is about more than one
  /// rule.
  var remedy: Remedy?

  /// Makes a refusal from its code and its line.
  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// Makes a refusal from its code, what is refused by which rule, and what would allow it.
  init(_ reason: Reason, _ fault: String, remedy: Remedy) {
    self.init(reason, "\(fault); \(remedy.flags) would allow it")
    self.remedy = remedy
  }

  /// The message without what would allow it.
  private var fault: String {
    remedy.map { String(message.dropLast("; \($0.flags) would allow it".count)) } ?? message
  }
}

extension Refusal {
  /// What would allow a thing that was refused.
  enum Remedy: Hashable, Sendable {
    case plainHTTP
    case port(UInt16)
    case host(String)
    case nets([CIDR])

    /// The flags, as they are written.
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

  /// One refusal for several that come one after the other, as each is allowed: with all flags in
  /// one sentence, so that nobody opens one flag to run into the next.
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
  /// Hostile bytes as they may stand in a message: printable ASCII as it is, the rest as `\xNN`,
  /// cut after `limit` characters.
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
