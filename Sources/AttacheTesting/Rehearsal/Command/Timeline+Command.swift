internal import Attache

extension Timeline {
  /// Adds the observations of a run to the timeline.
  ///
  /// - Parameter isFirst: whether the timeline begins with this run.
  func note(_ transcript: CommandTranscript, isFirst: Bool = true) {
    if isFirst { start = transcript.start }
    note(transcript.timing.taken, .payload) { "\($0) read" }
    note(transcript.timing.answered, .decision) { "\($0) of output written" }
    if let inputEnd = transcript.inputEnd { note(.filter, "its input ended", at: inputEnd) }
    let ending = transcript.exit.map { "ended with \($0)" } ?? "did not end, and was killed"
    note(.filter, ending + transcript.lastWords, at: transcript.end)
  }

  /// Adds an event for each instant; lines of the same instant share one event.
  private func note(_ instants: [MonotonicInstant], _ actor: TimelineEvent.Actor, _ text: (String) -> String) {
    var first = 0
    while first < instants.count {
      let last = instants[first...].prefix { $0 == instants[first] }.endIndex
      note(actor, text(last - first == 1 ? "line \(last)" : "lines \(first + 1) to \(last)"), at: instants[first])
      first = last
    }
  }
}
