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
  /// The report; nil when none is wanted.
  let report: Int32?

  /// - Throws: the exit status, once the log has said what stands in the way.
  init(output: String?, report: String?, _ log: Logger) throws {
    do throws(SystemError) {
      file = try output.map { path throws(SystemError) in try BatchFile(path) }
    } catch {
      let isTaken = error.number == EWOULDBLOCK
      log.error("\(PrintableText.of(output ?? "")): \(isTaken ? "another batch is writing it" : error.description)")
      throw ExitCode(isTaken ? ExitStatus.unavailable : ExitStatus.inputOutput)
    }
    guard let report else {
      self.report = nil
      return
    }
    let opened = unsafe open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard opened >= 0 else {
      log.error("the report \(PrintableText.of(report)): \(unsafe String(cString: strerror(errno)))")
      throw ExitCode(ExitStatus.inputOutput)
    }
    self.report = opened
  }

  deinit {
    if let report { close(report) }
  }

  var output: Int32 { file?.descriptor ?? STDOUT_FILENO }

  /// Has the output appear under its name.
  func finish() throws(BatchFailure) {
    guard let file else { return }
    do throws(SystemError) {
      try file.finish()
    } catch {
      throw .output(error)
    }
  }
}
