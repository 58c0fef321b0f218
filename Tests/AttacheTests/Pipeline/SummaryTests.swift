import Testing

@testable import Attache

@Suite struct SummaryTests {
  @Test func `the summary is one line, the most frequent reason first`() {
    var summary = Summary()
    summary.count(.attached, nil, lines: 900)
    summary.count(.fallback, .httpStatus, status: 503, lines: 2)
    summary.count(.fallback, .httpStatus, status: 404, lines: 8)
    summary.count(.fallback, .connectFailed, lines: 10)
    summary.count(.fallback, .deadline, lines: 30)
    summary.count(.passthrough, .payloadSilent, lines: 60)
    #expect(
      summary.text(elapsed: .milliseconds(12_345)) == """
        1010 lines: 900 attached, 50 fallback (deadline 30, connect.failed 10, http.status 10 (404: 8, 503: 2)), \
        60 passthrough (payload.silent 60), 0 invalid; 12.3 s
        """)
    #expect(summary.lines(.fallback, .httpStatus) == 10)
  }

  @Test func `of many statuses the rest is one number`() {
    var summary = Summary()
    for status in 400..<415 { summary.count(.fallback, .httpStatus, status: status, lines: status == 414 ? 9 : 1) }
    #expect(
      summary.text(elapsed: .zero).contains(
        "(http.status 23 (414: 9, 400: 1, 401: 1, 402: 1, 403: 1, 404: 1, 405: 1, 406: 1, 407: 1, 408: 1, others: 5))"))
  }

  @Test func `late lines and dropped offers are named when there are any`() {
    var summary = Summary()
    summary.count(.invalid, .payloadJSON)
    summary.lateLines = 2
    summary.droppedOffers = 3
    #expect(
      summary.text(elapsed: .milliseconds(49))
        == "1 line: 0 attached, 0 fallback, 0 passthrough, 1 invalid; 2 late; 3 dropped; 0.0 s")
  }

  @Test func `two counts are merged`() {
    var (left, right) = (Summary(), Summary())
    left.count(.attached, nil)
    right.count(.attached, nil, lines: 2)
    right.count(.fallback, .deadline)
    (left.bytesRead, right.bytesRead, right.bytesWritten, right.lateLines) = (1, 2, 3, 4)
    left.merge(right)
    #expect(left.lines(.attached) == 3)
    #expect(left.lines(.fallback, .deadline) == 1)
    #expect(left.lines == 4)
    #expect((left.bytesRead, left.bytesWritten, left.lateLines) == (3, 3, 4))
  }
}
