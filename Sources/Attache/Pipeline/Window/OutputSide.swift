/// The threads after the window: the writer's, and the report's if there is a report. The owner is
/// the run that starts them.
final class OutputSide {
  private let report: ReportWriter?
  private var reporting: (any StartedThread)?
  private let writing: any StartedThread
  private let written = SetOnce<Result<Summary, SystemError>>()
  private let reportFailed = SetOnce<SystemError>()

  /// Opens the report and starts the threads.
  ///
  /// - Parameters:
  ///   - failed: called on the writer's thread if the output cannot be written anymore.
  ///   - reportFailed: called on the report's thread if the report cannot be written anymore.
  init(
    window: OutputWindow, clock: MonotonicClock, output: Int32, report target: (path: String, detail: URLDetail)?,
    failed: @escaping @Sendable () -> Void, reportFailed: @escaping @Sendable (SystemError) -> Void
  ) throws(FilterFailure) {
    let machine = clock.machine
    report = try Self.open(target, window, machine) { [failure = self.reportFailed] error in
      failure.set(error)
      reportFailed(error)
    }
    do {
      if let report { reporting = try machine.start("report") { report.run() } }
      writing = try machine.start("write", .timely) { [report, written] in
        let writer = LineWriter(descriptor: output, window: window, clock: clock, report: report)
        do throws(SystemError) {
          try writer.run()
          written.set(.success(writer.summary))
        } catch {
          written.set(.failure(error))
          failed()
        }
      }
    } catch {
      throw .start(error)
    }
  }

  private static func open(
    _ target: (path: String, detail: URLDetail)?, _ window: OutputWindow, _ machine: any Machine,
    _ failed: @escaping @Sendable (SystemError) -> Void
  ) throws(FilterFailure) -> ReportWriter? {
    guard let (path, detail) = target else { return nil }
    do {
      return try ReportWriter(
        descriptor: try ReportFile.open(path), machine: machine, showing: detail, written: { window.holdForReport(-$0) },
        failed: failed)
    } catch {
      throw .report(path: path, error)
    }
  }

  /// Why the report is incomplete, available after ``join()`` has returned.
  var reportFailure: SystemError? {
    reportFailed.value
  }

  /// Waits until everything is written.
  ///
  /// - Returns: the counts of the payloads' outcomes.
  func join() throws(FilterFailure) -> Summary {
    writing.join()
    report?.finish()
    reporting?.join()
    switch written.value {
    case .success(let summary): return summary
    case .failure(let error): throw .output(error)
    case nil: return Summary()
    }
  }
}
