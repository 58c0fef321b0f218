/// The questions of a loop's fetches to the type detector's process: one at a time, in the order asked. On the loop only.
final class DetectorQueue {
  private struct Item {
    var question: Intake.Question
    var isWanted: () -> Bool
    var answer: (Detection) -> Void
  }

  private let loop: EventLoop
  private let detector: TypeDetector
  private var waiting = Ring<Item>()
  private var asked: Item?
  private var timer: TimerEntry?

  /// - Parameter detector: one that asks about every file: the fetches have asked the rules.
  init(_ detector: TypeDetector, on loop: EventLoop) {
    (self.detector, self.loop) = (detector, loop)
  }

  /// Has the process look at a file's first bytes.
  ///
  /// - Parameters:
  ///   - isWanted: asked when the question's turn has come.
  ///   - answer: called in a later turn, or at the end of this one, if it is wanted.
  func ask(_ question: Intake.Question, isWanted: @escaping () -> Bool, answer: @escaping (Detection) -> Void) {
    waiting.append(Item(question: question, isWanted: isWanted, answer: answer))
  }

  /// Called at the end of a turn: puts the next question. Not from within ``ask(_:isWanted:answer:)``, which may be called on the transport's stack.
  func turnEnded() {
    while asked == nil, let item = waiting.popFirst() {
      guard item.isWanted() else { continue }
      asked = item
      follow(detector.ask(about: FileHead(bytes: item.question.prefix, isWhole: item.question.isComplete)))
    }
  }

  /// Gives the answer, or waits for one.
  private func follow(_ detection: Detection?) {
    if let detection {
      if let timer { loop.cancel(timer) }
      timer = nil
      asked.take()?.answer(detection)
    } else if let socket = detector.socket {
      loop.watch(socket, for: .readable) { [weak self] _, _ in self?.stopWatching { $0.hear() } }
      if timer == nil { timer = loop.schedule(at: loop.now.advanced(by: DetectorProcess.waitLimit)) { [weak self] in self?.giveUp() } }
    }
  }

  private func giveUp() {
    timer = nil
    stopWatching { $0.giveUp() }
  }

  /// Lets go of the process's socket before it may be closed.
  private func stopWatching(_ step: (TypeDetector) -> Detection?) {
    if let socket = detector.socket { loop.unwatch(socket) }
    follow(step(detector))
  }
}
