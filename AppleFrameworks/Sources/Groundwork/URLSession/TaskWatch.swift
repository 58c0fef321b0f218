import Foundation
import FoundationNetworking

/// Adds what Foundation for Linux lacks: `timeoutIntervalForResource`, and time-outs of less than a
/// second, which a rehearsal needs.
final class TaskWatch: @unchecked Sendable {
  private let (idle, total): (TimeInterval, TimeInterval)
  private let lock = NSLock()
  private var timer: (any DispatchSourceTimer)?
  private var isOver = false

  init(_ request: URLRequest, _ configuration: URLSessionConfiguration) {
    let scale = SessionRules.timeScale
    // The default is 60 s. The shorter of the request's and the session's time-out counts.
    idle = scale < 1 ? min(request.timeoutInterval, configuration.timeoutIntervalForRequest) * scale : .infinity
    // Apple's default is seven days. A notification's budget is 30 seconds.
    total = configuration.timeoutIntervalForResource < 3_600 ? configuration.timeoutIntervalForResource * scale : .infinity
  }

  /// Cancels the task if no byte arrives for the idle time, or if it takes longer than the total time.
  func begin(_ task: URLSessionTask) {
    guard min(idle, total) < .infinity, min(idle, total) > 0 else { return }
    var (start, last, received) = (DispatchTime.now(), DispatchTime.now(), Int64(0))
    let step = min(0.1, min(idle, total) / 10)
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: start + step, repeating: step)
    timer.setEventHandler { [weak self, weak task, idle, total] in
      guard let task else { return }
      let now = DispatchTime.now()
      // A task that has not been resumed waits for nothing.
      if task.state == .suspended { start = now }
      if task.state == .suspended || task.countOfBytesReceived != received { (last, received) = (now, task.countOfBytesReceived) }
      guard now >= last + idle || now >= start + total else { return }
      self?.end(isOver: true)
      task.cancel()
    }
    lock.withLock { self.timer = timer }
    timer.resume()
  }

  func end(isOver: Bool = false) {
    lock.withLock {
      if isOver { self.isOver = true }
      timer?.cancel()
      timer = nil
    }
  }

  func timeOut(insteadOf error: (any Error)?) -> (any Error)? {
    error != nil && lock.withLock { isOver } ? URLError(.timedOut) : error
  }
}
