import Testing

@testable import Attache
@testable import AttacheInspection

/// The answer of each gate to a URL.
struct GateReportTests {
  /// `url` and `address` in one word each: yes, no with its reason, or open.
  private func answers(_ url: UntrustedText, _ policy: URLPolicy = URLPolicy()) -> [String] {
    GateReport(policy).answers(to: url).map { answer in
      "\(answer.gate) " + (answer.passes.map { $0 ? "yes" : answer.reason?.rawValue ?? "no" } ?? "open")
    }
  }

  @Test func `a name is judged when it is looked up`() {
    #expect(answers("https://cdn.example/a.jpg") == ["url yes", "address open"])
    #expect(answers("http://cdn.example/a.jpg") == ["url policy.scheme", "address open"])
    #expect(answers("http://cdn.example/a.jpg", URLPolicy(allowHTTP: true)) == ["url yes", "address open"])
  }

  @Test func `an address is judged at once`() throws {
    #expect(answers("https://93.184.215.14/a.jpg") == ["url yes", "address yes"])
    #expect(answers("https://127.0.0.1/a.jpg") == ["url yes", "address policy.address"])
    #expect(answers("https://127.0.0.1/a.jpg", URLPolicy(allowedNets: [try CIDR("127.0.0.0/8")])) == ["url yes", "address yes"])
    #expect(
      answers("https://[::ffff:169.254.169.254]/", URLPolicy(allowedNets: [try CIDR("::/0")])) == ["url yes", "address policy.address"])
    #expect(answers("https://0x7f000001:8443/a.jpg") == ["url policy.port", "address policy.address"])
  }

  @Test func `what has no host has no answer of the address gate`() {
    #expect(answers("image") == ["url policy.scheme"])
    #expect(answers("file:///etc/passwd") == ["url policy.scheme"])
    #expect(answers("no url") == ["url policy.url"])
    #expect(answers("") == ["url policy.scheme"])
  }

  @Test func `a port inside --allow-net hangs on the address`() throws {
    let answer = GateReport(URLPolicy(allowedNets: [try CIDR("10.0.0.0/8")])).answers(to: "https://cdn.example:8443/")[0]
    #expect(answer.passes == true)
    #expect(answer.text.contains("8443"))
  }

  @Test func `what the gates say is printable`() {
    for url: UntrustedText in ["https://a\u{1B}[2J.example/", "https://exa\u{202E}mple/", "\u{9B}2J"] {
      for answer in GateReport(URLPolicy()).answers(to: url) {
        #expect(answer.text.unicodeScalars.allSatisfy(PrintableText.isPrintable))
      }
    }
  }
}
