import Testing

@testable import Attache

@Suite struct ParentStartsTests {
  @Test func `the first end costs no pause, and each further one twice the last, until a fetcher is ready`() {
    var starts = ParentStarts()
    let pauses = (0..<10).map { _ in starts.notedEnd() }
    #expect(pauses == [0, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000].map { .milliseconds($0) })
    starts.noteReady()
    #expect(starts.notedEnd() == .zero)
  }

  @Test func `requests fail only while the parent ends again and again`() {
    var starts = ParentStarts()
    for _ in 0..<7 { _ = starts.notedEnd() }
    #expect(!starts.failsRequests)
    _ = starts.notedEnd()
    #expect(starts.failsRequests)
    starts.noteReady()
    #expect(!starts.failsRequests)
  }
}
