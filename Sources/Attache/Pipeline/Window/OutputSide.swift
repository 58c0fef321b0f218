internal import Synchronization

/// The threads after the window: the writer's, and the report's if there is a report. The owner is
/// the run that starts them.
final class OutputSide {
  /// The result that a thread stores for the thread that joins it.
  private final class ThreadResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func leave(_ value: Value) {
      self.value.withLock { $0 = $0 ?? value }
    }

    var left: Value? {
      value.withLock { $0 }
    }
  }

  private let report: ReportWriter?
  private var reporting: (any StartedThread)?
  private let writing: any StartedThread
  private let written = ThreadResult<Result<Summary, SystemError>>()
  private let reportFailed = ThreadResult<SystemError>()

  /// Opens the report and starts the threads.
  ///
  /// - Parameter failed: called on the writer's thread if the output cannot be written anymore.
  init(
    window: OutputWindow, clock: any DeadlineClock, output: Int32, report target: (path: String, detail: URLDetail)?,
    failed: @escaping @Sendable () -> Void
  ) throws(Filter.Failure) {
    let machine = clock.machineBehind
    report = try Self.open(target, window, machine, reportFailed)
    do {
      if let report { reporting = try machine.start("report") { report.run() } }
      writing = try machine.start("write", .timely) { [report, written] in
        let writer = LineWriter(descriptor: output, window: window, clock: clock, report: report)
        do throws(SystemError) {
          try writer.run()
          written.leave(.success(writer.summary))
        } catch {
          written.leave(.failure(error))
          failed()
        }
      }
    } catch {
      throw .start(error)
    }
  }

  private static func open(
    _ target: (path: String, detail: URLDetail)?, _ window: OutputWindow, _ machine: any Machine, _ failed: ThreadResult<SystemError>
  ) throws(Filter.Failure) -> ReportWriter? {
    guard let (path, detail) = target else { return nil }
    do {
      return try ReportWriter(
        descriptor: try ReportFile.open(path), machine: machine, showing: detail, written: { window.holdForReport(-$0) },
        failed: { failed.leave($0) })
    } catch {
      throw .report(path: path, error)
    }
  }

  /// Why the report is incomplete, available after ``join()`` has returned.
  var reportFailure: SystemError? {
    reportFailed.left
  }

  /// Waits until everything is written.
  ///
  /// - Returns: the counts of the payloads' outcomes.
  func join() throws(Filter.Failure) -> Summary {
    writing.join()
    report?.finish()
    reporting?.join()
    switch written.left {
    case .success(let summary): return summary
    case .failure(let error): throw .output(error)
    case nil: return Summary()
    }
  }
}
