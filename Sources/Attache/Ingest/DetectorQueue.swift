/// The queue of requests from a loop's fetches to the type detector's process. It sends one at a
/// time; payloads take turns. On the loop only.
final class DetectorQueue {
  private struct Item {
    var question: MediaIngest.Question
    var isWanted: () -> Bool
    var answer: (Detection) -> Void
  }

  private let loop: EventLoop
  private let detector: TypeDetector
  private var waiting = FairQueue<Item>(turn: 1)
  private var asked: Item?
  private var timer: TimerEntry?

  /// The maximum number of requests in one turn that are dropped or fail because there is no
  /// process.
  private static let portion = 64
  /// How much longer this side waits than the process itself, so that the process can end by
  /// itself.
  private static let margin = Duration.milliseconds(200)

  /// - Parameter detector: a detector that always asks its process. The fetches have already
  ///   applied the rules.
  init(_ detector: TypeDetector, on loop: EventLoop) {
    (self.detector, self.loop) = (detector, loop)
  }

  /// Asks the process to detect the type of a file from its first bytes.
  ///
  /// - Parameters:
  ///   - payloads: those that wait for the file.
  ///   - deadline: when the last of them ends.
  ///   - isWanted: called when the request's turn has come. If it returns false, the request is
  ///     dropped.
  ///   - answer: called with the result, in a later turn or at the end of this one.
  func ask(
    _ question: MediaIngest.Question, of payloads: [UInt64], by deadline: MonotonicInstant, isWanted: @escaping () -> Bool,
    answer: @escaping (Detection) -> Void
  ) {
    waiting.add(Item(question: question, isWanted: isWanted, answer: answer), work: 1, of: payloads, by: deadline)
  }

  /// Called at the end of a turn: sends the next request. ``ask(_:isWanted:answer:)`` does not send
  /// it, because it may be called on the transport's stack.
  func turnEnded() {
    for _ in 0..<Self.portion {
      guard asked == nil, let item = waiting.popFirst()?.element else { return }
      guard item.isWanted() else { continue }
      asked = item
      follow(detector.ask(about: FileHead(bytes: item.question.prefix, isWhole: item.question.isComplete)))
    }
    // The rest is handled in another turn.
    loop.later {}
  }

  /// Ends the process, and drops all requests.
  func shutdown() {
    if let socket = detector.socket { loop.unwatch(socket) }
    if let timer { loop.cancel(timer) }
    (asked, timer) = (nil, nil)
    _ = waiting.removeAll()
    detector.close()
  }

  /// Delivers the result, or waits for it.
  private func follow(_ detection: Detection?) {
    if let detection {
      if let timer { loop.cancel(timer) }
      timer = nil
      asked.take()?.answer(detection)
    } else if let socket = detector.socket {
      loop.watch(socket, for: .readable) { [weak self] _, _ in self?.stopWatching { $0.handle() } }
      let timeLimit = DetectorProcess.waitLimit + Self.margin
      if timer == nil { timer = loop.schedule(at: loop.now.advanced(by: timeLimit)) { [weak self] in self?.giveUp() } }
    }
  }

  private func giveUp() {
    timer = nil
    // The result may have arrived while the loop was blocked.
    stopWatching { $0.handle() ?? $0.giveUp() }
  }

  /// Stops watching the process's socket, because the step may close it.
  private func stopWatching(_ step: (TypeDetector) -> Detection?) {
    if let socket = detector.socket { loop.unwatch(socket) }
    follow(step(detector))
  }
}
