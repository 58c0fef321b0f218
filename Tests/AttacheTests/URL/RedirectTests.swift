import Testing

@testable import Attache

@Suite struct RedirectTests {
  private let gate = URLGate(URLPolicy(allowHTTP: true))

  @Test func `every Location leads where RFC 3986 says or is refused for its reason`() throws {
    let cases: [RedirectVector] = try vectors("redirects.json")
    #expect(cases.count > 60)
    for vector in cases {
      let from = try gate.check(vector.from)
      var passed: CheckedURL?
      let refusal = refusal { () throws(Refusal) in passed = try gate.redirect(to: vector.bytes, from: from) }
      #expect(refusal?.reason.rawValue == vector.refused, "\(vector.name): \(refusal?.message ?? "passed")")
      #expect(passed?.text == vector.passed, "\(vector.name)")
    }
  }

  @Test func `a refused redirect says what the gate says about its target`() throws {
    let from = try gate.check("http://cdn.example.test/")
    let refusal = try #require(refusal { () throws(Refusal) in try gate.redirect(to: "http://10.0.0.1/".utf8, from: from) })
    #expect(
      refusal
        == Refusal(.policyRedirect, "the redirect is refused: 10.0.0.1 is private (RFC 1918); --allow-net 10.0.0.0/8 would allow it"))
  }

  @Test func `a Location of 8 MiB is refused`() throws {
    let from = try gate.check("https://cdn.example.test/")
    let location = Array(repeating: UInt8(ascii: "a"), count: 8 << 20)
    #expect(refusal { () throws(Refusal) in try gate.redirect(to: location, from: from) }?.reason == .policyRedirect)
  }

  @Test func `a redirect inside an allowed network keeps every port open`() throws {
    let gate = URLGate(URLPolicy(allowHTTP: true, allowedNets: [try CIDR("127.0.0.0/8")]))
    let from = try gate.check("http://127.0.0.1:8080/a")
    #expect(try gate.redirect(to: "http://127.0.0.1:9090/b".utf8, from: from).text == "http://127.0.0.1:9090/b")
    #expect(try gate.redirect(to: "b".utf8, from: from).text == "http://127.0.0.1:8080/b")
    #expect(refusal { () throws(Refusal) in try gate.redirect(to: "http://10.0.0.1/".utf8, from: from) }?.reason == .policyRedirect)
    #expect(
      refusal { () throws(Refusal) in try gate.redirect(to: "http://169.254.169.254/".utf8, from: from) }?.reason == .policyRedirect)
  }

  @Test(arguments: [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
  ])
  func `references resolve as in RFC 3986, 5.4`(reference: String, resolved: String) {
    let base = URLReference(Array("http://a/b/c/d;p?q".utf8)[...])
    let target = URLReference(Array(reference.utf8)[...]).resolved(against: base)
    #expect(String(decoding: target.bytes, as: UTF8.self) == resolved)
  }
}
