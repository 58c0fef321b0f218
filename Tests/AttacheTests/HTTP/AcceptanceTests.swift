import Testing

@testable import Attache

@Suite struct AcceptanceTests {
  /// A head from its lines, including the blank one at the end.
  private func head(_ lines: String...) -> ResponseHead {
    var head = ResponseHead()
    for line in lines + [""] {
      var bytes = Array((line + "\r\n").utf8)
      let isTaken = unsafe bytes.withUnsafeMutableBytes { unsafe head.add(UnsafeRawBufferPointer($0)) }
      #expect(isTaken)
    }
    return head
  }

  @Test func `a complete 200 is accepted with its length`() {
    #expect(Acceptance.judge(head("HTTP/1.1 200 OK", "cOnTeNt-LeNgTh: 12"), resumingFrom: 0) == .body(length: 12, resumes: false))
    #expect(Acceptance.judge(head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked"), resumingFrom: 0) == .body(length: nil, resumes: false))
    #expect(Acceptance.judge(head("HTTP/2 200 ", "content-length: 0"), resumingFrom: 0) == .body(length: 0, resumes: false))
  }

  @Test func `a trailer is no new response`() {
    let head = head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "HTTP/1.1 404 Not Found")
    #expect(head.status == 200)
  }

  @Test func `an interim response is not the answer`() {
    let head = head("HTTP/1.1 103 Early Hints", "Location: /wrong", "Content-Length: 9", "", "HTTP/1.1 200 OK", "Content-Length: 3")
    #expect(Acceptance.judge(head, resumingFrom: 0) == .body(length: 3, resumes: false))
  }

  @Test(arguments: [
    ["Content-Length: 2", "Content-Length: 5"],
    ["Content-Length: 100000000000000000000000"],
    ["Content-Length: 0x10"],
    ["Content-Length: -1"],
    ["Content-Length: +1"],
    ["Content-Length: 5", "Content-Length: 5", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked, chunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: gzip"],
    ["Content-Length: 5, 5"],
    ["Content-Length: 5", "Content-Length: 5"],
    ["Content-Length:"],
    ["Content-Encoding:", " gzip"],
    ["Content-Encoding : gzip"],
    ["X: a\rContent-Length: 3"],
    ["X: a", " \t"],
    ["X: a", "HTTP/1.1 200 O:K"],
  ])
  func `framing that contradicts itself is refused`(fields: [String]) {
    var head = ResponseHead()
    for line in ["HTTP/1.1 200 OK"] + fields + [""] {
      _ = unsafe Array((line + "\r\n").utf8).withUnsafeBytes { unsafe head.add($0) }
    }
    #expect(Acceptance.judge(head, resumingFrom: 0) == .refuse(.httpFraming))
  }

  @Test func `chunks mark the end of a body, even beside a length`() {
    let head = head("HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked")
    #expect(Acceptance.judge(head, resumingFrom: 0) == .body(length: nil, resumes: false))
    #expect(head.hasTwoFramings)
  }

  @Test func `HTTP/1.0 knows no chunks`() {
    #expect(Acceptance.judge(head("HTTP/1.0 200 OK", "Transfer-Encoding: chunked"), resumingFrom: 0) == .refuse(.httpFraming))
    #expect(Acceptance.judge(head("HTTP/1.0 200 OK"), resumingFrom: 0) == .body(length: nil, resumes: false))
  }

  @Test(arguments: [
    ("gzip", "gzip"), ("GZIP", "gzip"), ("br", "br"), ("zstd", "zstd"), ("deflate", "deflate"), ("x-gzip", "x-gzip"),
    ("compress", "compress"), ("x-compress", "x-compress"), ("aes128gcm", "aes128gcm"), ("dcb", "dcb"), ("dcz", "dcz"), ("exi", "exi"),
    ("pack200-gzip", "pack200-gzip"), ("identity, gzip", "gzip"), ("aws-chunked,zstd, gzip", "zstd"), ("gzip, base64", "gzip"),
    (", ,\tbr ,", "br"),
  ])
  func `a registered content coding is refused and named, wherever it stands`(value: String, coding: String) {
    let refusal = ResponseVerdict.refuse(.httpEncoding, detail: coding)
    #expect(Acceptance.judge(head("HTTP/1.1 200 OK", "Content-Encoding: \(value)"), resumingFrom: 0) == refusal)
    let later = head("HTTP/1.1 200 OK", "Content-Encoding: none", "Content-Encoding: \(value)")
    #expect(Acceptance.judge(later, resumingFrom: 0) == refusal)
  }

  @Test(arguments: [
    "identity", "", "identity,identity", "base64", "aws-chunked", "UTF-8", "utf8", "binary", "none", "null", "image/jpeg", "gzipped",
    "\u{FF47}zip", ",", "base64, aws-chunked", "\"gzip\"",
  ])
  func `a label that is no content coding says nothing`(value: String) {
    #expect(
      Acceptance.judge(head("HTTP/1.1 200 OK", "Content-Encoding: \(value)"), resumingFrom: 0) == .body(length: nil, resumes: false))
  }

  @Test func `the message quotes the coding`() {
    #expect(FetchFailure(coding: "gzip").message.contains("(Content-Encoding: gzip)"))
  }

  @Test func `a status line within a head takes back nothing that stands before it`() {
    let encoded = head("HTTP/1.1 200 OK", "Content-Encoding: gzip", "HTTP/1.1 200 OK")
    #expect(Acceptance.judge(encoded, resumingFrom: 0) == .refuse(.httpEncoding, detail: "gzip"))
    let moved = head("HTTP/1.1 302 Found", "Location: /a", "HTTP/1.1 200 OK", "Content-Length: 3")
    #expect(Acceptance.judge(moved, resumingFrom: 0) == .redirect(location: Array("/a".utf8)))
  }

  @Test(arguments: [
    (204, ResponseVerdict.refuse(.httpStatus)), (206, .refuse(.httpStatus)), (304, .refuse(.httpStatus)), (404, .refuse(.httpStatus)),
    (408, .retry(.httpStatus)), (425, .retry(.httpStatus)), (429, .retry(.httpStatus)), (500, .retry(.httpStatus)),
    (502, .retry(.httpStatus)), (503, .retry(.httpStatus)), (504, .retry(.httpStatus)), (999, .refuse(.httpStatus)),
  ])
  func `only 200 is a success`(status: Int, verdict: ResponseVerdict) {
    #expect(Acceptance.judge(head("HTTP/1.1 \(status) X"), resumingFrom: 0) == verdict)
  }

  @Test func `a redirect names its one place`() {
    #expect(Acceptance.judge(head("HTTP/1.1 302 X", "Location:  /b "), resumingFrom: 0) == .redirect(location: Array("/b".utf8)))
    #expect(Acceptance.judge(head("HTTP/1.1 302 X"), resumingFrom: 0) == .refuse(.httpStatus))
    #expect(Acceptance.judge(head("HTTP/1.1 302 X", "Location: /b", "Location: /c"), resumingFrom: 0) == .refuse(.httpRedirect))
    #expect(Acceptance.judge(head("HTTP/1.1 302 X", "Location: /b", " /c"), resumingFrom: 0) == .refuse(.policyRedirect))
    let control = Array("/b\u{0B}".utf8)
    #expect(Acceptance.judge(head("HTTP/1.1 302 X", "Location: /b\u{0B}"), resumingFrom: 0) == .redirect(location: control))
  }

  @Test func `206 continues where the body broke off, and nowhere else`() {
    let right = head("HTTP/1.1 206 X", "Content-Range: bytes 100-199/200", "Content-Length: 100")
    #expect(Acceptance.judge(right, resumingFrom: 100) == .body(length: 200, resumes: true))
    #expect(Acceptance.judge(right, resumingFrom: 50) == .refuse(.httpFraming))
    for range in ["bytes 100-199/*", "bytes 100-150/200", "items 100-199/200", "bytes 199-100/200", "bytes 100-199/150", ""] {
      let wrong = head("HTTP/1.1 206 X", "Content-Range: \(range)")
      #expect(Acceptance.judge(wrong, resumingFrom: 100) == .refuse(.httpFraming), "\(range)")
    }
    #expect(Acceptance.judge(head("HTTP/1.1 200 X", "Content-Length: 7"), resumingFrom: 100) == .body(length: 7, resumes: false))
  }

  @Test func `too many header lines and too many header bytes are not taken`() {
    var many = ResponseHead()
    let line = Array("X: y\r\n".utf8)
    var taken = 0
    while taken < 1_000, unsafe line.withUnsafeBytes({ unsafe many.add($0) }) { taken += 1 }
    #expect(taken == ResponseHead.maximumLines)
    var long = ResponseHead()
    let flood = [UInt8](repeating: UInt8(ascii: "a"), count: ResponseHead.maximumBytes + 1)
    #expect(unsafe flood.withUnsafeBytes { unsafe long.add($0) } == false)
  }
}
