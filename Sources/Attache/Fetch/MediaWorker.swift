internal import Synchronization

/// A thread where media is detected, hashed and written, so that neither libmagic nor a slow disk holds up a transfer.
///
/// `@unchecked Sendable`: `detector` is used on the thread only; the rest is constant, locked or atomic.
final class MediaWorker: @unchecked Sendable {
  private struct Item {
    let bytes: Int
    let work: @Sendable () -> Void
  }

  private struct Desk {
    var work: [Item] = []
    var urgent: [@Sendable () -> Void] = []
    var isOpen = true
    var isAsleep = false
  }

  private let desk = Mutex(Desk())
  private let alarm: any Bell
  private let backlog = Atomic<Int>(0)
  /// Whether there is urgent work, so that it is looked for without the lock.
  private let hasUrgent = Atomic<Bool>(false)

  let store: AttachmentStore
  let detector: TypeDetector

  /// Bytes that may wait for the thread before transfers are paused.
  static let fullAt = 1 << 20

  /// One thread, and one more for each core that is neither the loop's nor the first's, to four.
  static func recommendedCount(on machine: any Machine) -> Int {
    max(1, min(4, machine.processors - 1))
  }

  /// Starts the thread.
  ///
  /// - Parameter play: how the detector's process misbehaves, for tests.
  /// - Throws: ``StartError`` when libmagic's database cannot be loaded or the system gives no thread.
  init(store: AttachmentStore, machine: any Machine, playing play: DetectorPlay = .honest) throws(StartError) {
    self.store = store
    do {
      detector = try TypeDetector(playing: play)
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

  /// Whether so many bytes wait that no more should be taken from the network.
  var isFull: Bool {
    backlog.load(ordering: .relaxed) > Self.fullAt
  }

  /// Runs `work` on the thread, in the order given.
  ///
  /// - Parameter bytes: how much memory waits with it.
  func perform(holding bytes: Int = 0, _ work: @escaping @Sendable () -> Void) {
    backlog.wrappingAdd(bytes, ordering: .relaxed)
    let wakes = desk.withLock { desk in
      guard desk.isOpen else { return false }
      desk.work.append(Item(bytes: bytes, work: work))
      defer { desk.isAsleep = false }
      return desk.isAsleep
    }
    if wakes { alarm.ring() }
  }

  /// Runs `work` on the thread before all that waits there: for what is short, and keeps a transfer from its start.
  func performNext(_ work: @escaping @Sendable () -> Void) {
    let wakes = desk.withLock { desk in
      guard desk.isOpen else { return false }
      desk.urgent.append(work)
      hasUrgent.store(true, ordering: .relaxed)
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
        item.work()
        backlog.wrappingSubtract(item.bytes, ordering: .relaxed)
        workUrgently()
      }
    }
  }
}
