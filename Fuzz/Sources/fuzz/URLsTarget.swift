@testable import Attache

/// A URL to the URL gate, and with a line feed in it a URL and the Location that its origin answers
/// with.
///
/// - What the gate passes, libcurl's own parser reads with the same scheme, host, port and target,
///   as written and as the gate writes it anew; there are no credentials and no zone in it.
/// - Passing it again changes nothing; its host is lower-case ASCII or an address, its port is one
///   that the policy allows.
/// - A text that is read as a URL is read as the same one again. If the gate passes the text as it is,
///   it passes the URL too, with the same origin.
/// - A redirect goes where libcurl would go, and never from https to http.
/// - A refusal's message is printable and short.
struct URLsTarget: Target {
  /// Without flags but plain http; with some of each; with all that can be allowed.
  private static let policies: [URLPolicy] = {
    let nets = ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "fd00::/8"].compactMap { try? CIDR($0) }
    let everything = ["0.0.0.0/0", "::/0"].compactMap { try? CIDR($0) }
    let hosts = ["*.example.test", "localhost", ".a.test"].compactMap { try? HostPattern($0) }
    return [
      URLPolicy(), URLPolicy(allowHTTP: true),
      URLPolicy(allowHTTP: true, allowedNets: nets, allowedPorts: [8000...9000], deniedHosts: hosts),
      URLPolicy(allowHTTP: true, allowedNets: everything, allowedPorts: [1...65535], allowedHosts: []),
      URLPolicy(allowHTTP: true, allowedNets: nets, allowedHosts: hosts),
    ]
  }()

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    let policy = Self.policies[input.number(below: Self.policies.count)]
    let gate = URLGate(policy)
    let isRedirect = input.byte() & 1 == 1
    let parts = isRedirect ? input.rest.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false) : [input.rest]
    guard let first = parts.first else { return }
    let url = pass(first, gate, policy)
    let read = UntrustedText(decoding: first).asURL
    check(read.asURL == read, "reading a URL again changes nothing")
    let passed = pass(Array(read.utf8)[...], gate, policy)
    guard let url else { return }
    let isLonger = read.utf8.count > URLGate.maximumBytes
    check(isLonger || passed?.origin == url.origin, "reading a URL that passes changes no origin")
    guard parts.count == 2 else { return }
    redirect(parts[1], from: url, gate, policy)
  }

  private func pass(_ bytes: ArraySlice<UInt8>, _ gate: URLGate, _ policy: URLPolicy) -> CheckedURL? {
    do throws(Refusal) {
      let url = try gate.check(bytes)
      judge(url, gate, policy)
      if let curl = CurlURL(Array(bytes)) { compare(url, with: curl, of: Array(bytes)) }
      return url
    } catch {
      judge(error, of: bytes)
      check(error.reason.rawValue.hasPrefix("policy."), "the gate refuses by policy: \(error.reason.rawValue)")
      return nil
    }
  }

  private func redirect(_ location: ArraySlice<UInt8>, from url: CheckedURL, _ gate: URLGate, _ policy: URLPolicy) {
    do throws(Refusal) {
      let next = try gate.redirect(to: location, from: url)
      judge(next, gate, policy)
      check(!(url.scheme == .https && next.scheme == .http), "no redirect leads from https to http")
      guard let curl = CurlURL(Array(url.text.utf8)) else { return }
      if curl.follow(Array(location)) { compare(next, with: curl, of: Array(location)) }
    } catch {
      judge(error, of: location)
      let reasons: [Reason] = [.policyRedirect, .httpStatus, .httpRedirect]
      check(reasons.contains(error.reason), "a redirect is refused as one: \(error.reason.rawValue)")
    }
  }

  /// What holds of every URL that has passed.
  private func judge(_ url: CheckedURL, _ gate: URLGate, _ policy: URLPolicy) {
    let text = Array(url.text.utf8)
    guard let again = try? gate.check(text[...]) else { return check(false, "what has passed passes again: \(url.text)") }
    check(again == url && again.text == url.text, "passing again changes nothing: \(url.text)")
    check((try? gate.check(text[...], after: url)) == url, "passing after itself changes nothing: \(url.text)")
    check(
      text.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") }, "a URL is plain: \(url.text)")
    check(text.count <= 8_192, "a URL is no longer than 8,192 bytes")
    check(policy.allowHTTP || url.scheme == .https, "plain http needs its flag")
    let portIsListed = [80, 443].contains(url.port) || policy.allowedPorts.contains { $0.contains(url.port) }
    check(portIsListed || !policy.allowedNets.isEmpty, "the port is allowed: \(url.text)")
    if let address = url.address {
      check((try? gate.addressGate.check(address)) != nil, "an address in a URL has passed the address gate: \(url.text)")
      check(address.description == url.host, "an address is written in one way: \(url.text)")
    } else {
      let isName = url.host.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "-_.".utf8.contains($0) }
      check(isName && !url.host.hasSuffix(".") && url.host.utf8.count <= 253, "a host is a name: \(url.text)")
    }
    guard let curl = CurlURL(text) else { return check(false, "libcurl reads what the gate passes: \(url.text)") }
    compare(url, with: curl, of: text)
    let target = (curl.path ?? "") + (curl.query.map { "?" + $0 } ?? (url.target.hasSuffix("?") ? "?" : ""))
    check(target == url.target, "libcurl asks for the same: \(url.text) and \(target)")
    check(curl.fragment == nil, "no fragment is passed: \(url.text)")
  }

  private func compare(_ url: CheckedURL, with curl: CurlURL, of bytes: [UInt8]) {
    var host = curl.host?.lowercased() ?? ""
    if url.address == nil, host.hasSuffix(".") { host.removeLast() }
    if host.hasPrefix("["), let address = IPAddress(String(host.dropFirst().dropLast())) { host = address.description }
    let isSame = curl.scheme == url.scheme.rawValue && host == url.host && curl.port == "\(url.port)"
    check(isSame, "libcurl goes to the same place: \(quoted(bytes)) to \(host), the gate to \(url.text)")
    check(curl.secrets.isEmpty, "no credentials and no zone pass: \(quoted(bytes))")
  }

  private func judge(_ refusal: Refusal, of bytes: ArraySlice<UInt8>) {
    let isPrintable = refusal.message.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) || $0 == "…" }
    check(
      isPrintable && !refusal.message.isEmpty && refusal.message.utf8.count <= 800, "a message is printable and short: \(refusal.message)")
  }
}
