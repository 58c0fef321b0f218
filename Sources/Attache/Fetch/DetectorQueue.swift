internal import Glibc

/// The questions of a loop's fetches to the type detector's process: one at a time, in the order
/// asked. On the loop only.
final class DetectorQueue {
  private struct Item {
    var question: MediaIngest.Question
    var isWanted: () -> Bool
    var answer: (Detection) -> Void
  }

  private let loop: EventLoop
  private let detector: TypeDetector
  private var waiting = Ring<Item>()
  private var asked: Item?
  private var timer: TimerEntry?
  private var leftoverTimer: TimerEntry?

  /// Questions that are dropped, or fail for want of a process, in one turn.
  private static let portion = 64
  /// How much longer than the process itself this side waits, so that the process ends by itself.
  private static let margin = Duration.milliseconds(200)
  /// How long a process that was ended may still be there.
  private static let leftoverPatience = Duration.seconds(10)

  /// - Parameter detector: one that asks about every file: the fetches have asked the rules.
  init(_ detector: TypeDetector, on loop: EventLoop) {
    (self.detector, self.loop) = (detector, loop)
  }

  /// Has the process look at a file's first bytes.
  ///
  /// - Parameters:
  ///   - isWanted: asked when the question's turn has come.
  ///   - answer: called in a later turn, or at the end of this one, if it is wanted.
  func ask(_ question: MediaIngest.Question, isWanted: @escaping () -> Bool, answer: @escaping (Detection) -> Void) {
    waiting.append(Item(question: question, isWanted: isWanted, answer: answer))
  }

  /// Called at the end of a turn: puts the next question. Not from within
  /// ``ask(_:isWanted:answer:)``, which may be called on the transport's stack.
  func turnEnded() {
    for _ in 0..<Self.portion {
      guard asked == nil, let item = waiting.popFirst() else { return }
      guard item.isWanted() else { continue }
      asked = item
      follow(detector.ask(about: FileHead(bytes: item.question.prefix, isWhole: item.question.isComplete)))
    }
    // The rest has another turn.
    loop.later {}
  }

  /// Ends the process, and forgets every question.
  func shutdown() {
    if let socket = detector.socket { loop.unwatch(socket) }
    for timer in [timer, leftoverTimer] { if let timer { loop.cancel(timer) } }
    (asked, timer, leftoverTimer) = (nil, nil, nil)
    waiting = Ring()
    detector.close()
  }

  /// Gives the answer, or waits for one.
  private func follow(_ detection: Detection?) {
    if let detection {
      if let timer { loop.cancel(timer) }
      timer = nil
      lookAfterLeftovers()
      asked.take()?.answer(detection)
    } else if let socket = detector.socket {
      loop.watch(socket, for: .readable) { [weak self] _, _ in self?.stopWatching { $0.handle() } }
      let patience = DetectorProcess.waitLimit + Self.margin
      if timer == nil { timer = loop.schedule(at: loop.now.advanced(by: patience)) { [weak self] in self?.giveUp() } }
    }
  }

  private func giveUp() {
    timer = nil
    // The answer may have come while the loop was held up.
    stopWatching { $0.handle() ?? $0.giveUp() }
  }

  /// Lets go of the process's socket before it may be closed.
  private func stopWatching(_ step: (TypeDetector) -> Detection?) {
    if let socket = detector.socket { loop.unwatch(socket) }
    follow(step(detector))
  }

  /// A confined process may signal nobody. Where code that was smuggled in has switched the timers
  /// of its child off, the child ends with this process.
  private func lookAfterLeftovers() {
    guard leftoverTimer == nil, detector.hasLeftovers else { return }
    leftoverTimer = loop.schedule(at: loop.now.advanced(by: Self.leftoverPatience)) { [weak self] in
      guard let self else { return }
      leftoverTimer = nil
      if detector.hasLeftovers { abort() }
    }
  }
}
