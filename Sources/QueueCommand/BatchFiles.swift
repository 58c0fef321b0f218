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

  /// - Parameter input: what the batch reads, which the report may not take the place of.
  /// - Throws: the exit status, once the log has said what stands in the way.
  init(input: Int32, output: String?, report: String?, _ log: Logger) throws {
    if let output, let place = FileIdentity(path: output), place == FileIdentity(descriptor: input) {
      log.error("the output \(PrintableText.of(output)) is the file that is read; name another")
      throw ExitCode.validationFailure
    }
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
    let opened = unsafe open(report, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard opened >= 0 else {
      log.error("the report \(PrintableText.of(report)): \(unsafe String(cString: strerror(errno)))")
      throw ExitCode(ExitStatus.inputOutput)
    }
    if let place = FileIdentity(descriptor: opened) {
      let taken = [FileIdentity(descriptor: input), output.flatMap(FileIdentity.init(path:)) ?? FileIdentity(descriptor: STDOUT_FILENO)]
      guard !taken.contains(place) else {
        close(opened)
        log.error("the report \(PrintableText.of(report)) is the file that is read or written; name another")
        throw ExitCode.validationFailure
      }
      ftruncate(opened, 0)
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
