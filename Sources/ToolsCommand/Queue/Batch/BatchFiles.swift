import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Glibc
import Logging

/// The files that a batch writes.
@safe
final class BatchFiles {
  private let file: BatchFile?
  /// The descriptor of the report; nil when none is wanted.
  let report: Int32?

  /// Opens the files.
  ///
  /// - Parameters:
  ///   - input: the file that the batch reads; neither the output nor the report may be the same
  ///     file.
  ///   - queue: the queue; no other file may be one of its files.
  /// - Throws: the exit status, after the problem is logged.
  init(input: Int32, output: String?, report: String?, queue: QueueLocation, _ log: Logger) throws {
    let target = output.map(FileIdentity.init(path:)) ?? FileIdentity(descriptor: STDOUT_FILENO)
    if let target, target == FileIdentity(descriptor: input) {
      log.error("the output \(output.map { PrintableText.of($0) } ?? "<stdout>") is also the input; choose another file")
      throw ExitCode.validationFailure
    }
    if let place = report.flatMap(FileIdentity.init(path:)), [FileIdentity(descriptor: input), target].contains(place) {
      log.error("the report \(PrintableText.of(report ?? "")) is also the input or the output; choose another file")
      throw ExitCode.validationFailure
    }
    let outputs = output.map { [("the output", $0), ("the output's part file", BatchFile.part(of: $0))] } ?? []
    try DistinctFiles.check(queue.files + outputs + (report.map { [("the report", $0)] } ?? []), log)
    do throws(SystemError) {
      file = try output.map { path throws(SystemError) in try BatchFile(path) }
    } catch {
      let isTaken = error.number == EWOULDBLOCK
      log.error("\(PrintableText.of(output ?? "")): \(isTaken ? "another batch is writing it" : error.description)")
      throw ExitCode(isTaken ? ExitStatus.unavailable : ExitStatus.inputOutput)
    }
    do throws(SystemError) {
      self.report = try report.map { path throws(SystemError) in try ReportFile.open(path) }
    } catch {
      log.error("the report \(PrintableText.of(report ?? "")): \(error)")
      throw ExitCode(ExitStatus.inputOutput)
    }
  }

  deinit {
    if let report { close(report) }
  }

  var output: Int32 { file?.descriptor ?? STDOUT_FILENO }

  /// Gives the output its final name.
  func finish() throws(BatchFailure) {
    guard let file else { return }
    do throws(SystemError) {
      try file.finish()
    } catch {
      throw .output(error)
    }
  }
}
