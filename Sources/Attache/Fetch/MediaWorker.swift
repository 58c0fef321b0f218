internal import Synchronization

/// A thread for what may block for long: the type detector's process and the index of the HTTP cache. The loops of a fetcher share it.
///
/// `@unchecked Sendable`: `detector` is used on the thread only; the rest is constant, locked or atomic.
final class MediaWorker: @unchecked Sendable {
  private struct Desk {
    var work: [@Sendable () -> Void] = []
    var urgent: [@Sendable () -> Void] = []
    var isOpen = true
    var isAsleep = false
  }

  private let desk = Mutex(Desk())
  private let alarm: any Bell
  /// Whether there is urgent work, so that it is looked for without the lock.
  private let hasUrgent = Atomic<Bool>(false)
  private let detector: TypeDetector

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - database: libmagic's own, used by this thread alone.
  ///   - play: how the detector's process misbehaves, for tests.
  /// - Throws: ``StartError`` when the system gives no thread.
  init(machine: any Machine, database: MagicCookie, playing play: DetectorPlay = .honest) throws(StartError) {
    // The loops have asked the rules.
    detector = TypeDetector(playing: play, asksAlways: true, database: database)
    do {
      let alarm = try machine.makeBell()
      self.alarm = alarm
      try machine.start("media") { [self] in
        while work() { alarm.wait(until: nil) }
      }.detach()
    } catch {
      throw StartError("\(error)")
    }
  }

  /// Ends the thread after the work at hand.
  func stop() {
    desk.withLock { desk in
      desk.isOpen = false
      desk.work.removeAll()
      desk.urgent.removeAll()
    }
    alarm.ring()
  }

  /// Has the type detector's process look at a file's first bytes.
  ///
  /// - Parameters:
  ///   - isWanted: asked on the thread when the question's turn has come.
  ///   - answer: called on the thread, if it is.
  func ask(_ question: Intake.Question, isWanted: @escaping @Sendable () -> Bool, answer: @escaping @Sendable (Detection) -> Void) {
    perform { [self] in
      guard isWanted() else { return }
      answer(unsafe question.prefix.withUnsafeBytes { unsafe detector.detect($0, isComplete: question.isComplete) })
    }
  }

  /// Runs `work` on the thread, in the order given.
  func perform(_ work: @escaping @Sendable () -> Void) {
    add { $0.work.append(work) }
  }

  /// Runs `work` on the thread before all that waits there: for what is short, and keeps a transfer from its start.
  func performNext(_ work: @escaping @Sendable () -> Void) {
    add { desk in
      desk.urgent.append(work)
      hasUrgent.store(true, ordering: .relaxed)
    }
  }

  private func add(_ change: (inout Desk) -> Void) {
    let wakes = desk.withLock { desk in
      guard desk.isOpen else { return false }
      change(&desk)
      defer { desk.isAsleep = false }
      return desk.isAsleep
    }
    if wakes { alarm.ring() }
  }

  private func workUrgently() {
    guard hasUrgent.load(ordering: .relaxed) else { return }
    let urgent = desk.withLock { desk in
      defer { desk.urgent.removeAll(keepingCapacity: true) }
      hasUrgent.store(false, ordering: .relaxed)
      return desk.urgent
    }
    for work in urgent { work() }
  }

  /// Takes what has come in and does it.
  ///
  /// - Returns: false when the thread is to end.
  private func work() -> Bool {
    while true {
      let (work, isOpen, isAsleep) = desk.withLock { desk in
        let work = desk.work
        desk.work.removeAll(keepingCapacity: true)
        desk.isAsleep = work.isEmpty && desk.urgent.isEmpty
        return (work, desk.isOpen, desk.isAsleep)
      }
      guard isOpen else { return false }
      guard !isAsleep else { return true }
      workUrgently()
      for item in work {
        item()
        workUrgently()
      }
    }
  }
}
