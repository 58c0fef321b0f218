import Testing

@testable import Attache

@Suite struct FetcherSilenceTests {
  /// What each look says, after so many seconds; a negative number is an answer that comes before
  /// the look.
  @Test(arguments: [
    ([2, -2, -2, -2, -2, -2, -2], "ask ask ask ask ask ask ask"),
    ([2, 2, 2, 2, 2, 2], "ask wait wait wait wait end"),
    ([2, 2, 2, 2, 2, -2, 2], "ask wait wait wait wait ask wait"),
    // The host was stopped for a minute, then for an hour: what has passed before counts no more.
    ([2, 2, 2, 2, 2, 60, 2, 2, 2, 2, 2], "ask wait wait wait wait wait wait wait wait wait end"),
    ([2, 3600, 3600, 3600], "ask wait wait wait"),
    // The fetcher that takes the place begins anew.
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
