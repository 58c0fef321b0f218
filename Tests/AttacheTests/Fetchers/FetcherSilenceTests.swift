import Testing

@testable import Attache

@Suite struct FetcherSilenceTests {
  /// The result of each check after this many seconds. A negative number is an answer before the
  /// check.
  @Test(arguments: [
    ([2, -2, -2, -2, -2, -2, -2], "ask ask ask ask ask ask ask"),
    ([2, 2, 2, 2, 2, 2], "ask wait wait wait wait end"),
    ([2, 2, 2, 2, 2, -2, 2], "ask wait wait wait wait ask wait"),
    // The host was stopped for a minute, then for an hour: the time before no longer counts.
    ([2, 2, 2, 2, 2, 60, 2, 2, 2, 2, 2], "ask wait wait wait wait wait wait wait wait wait end"),
    ([2, 3600, 3600, 3600], "ask wait wait wait"),
    // The replacement fetcher starts from zero.
    ([2, 2, 2, 2, 2, 2, 2, 2], "ask wait wait wait wait end ask wait"),
  ])
  func `only a fetcher that is silent for ten seconds of a punctual host is ended`(looks: [Int], verdicts: String) {
    var now = MonotonicInstant(nanoseconds: 0)
    var silence = FetcherSilence(since: now)
    let found = looks.map { seconds in
      if seconds < 0 { silence.noteAnswer() }
      now = now.advanced(by: .seconds(abs(seconds)))
      return "\(silence.look(at: now))"
    }
    #expect(found.joined(separator: " ") == verdicts)
  }
}
