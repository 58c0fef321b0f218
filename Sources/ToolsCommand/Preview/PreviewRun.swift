import ArgumentParser
import Attache
import AttacheArguments
import AttacheInspection
import AttacheTesting
import Foundation

/// The filter that runs, for the signal handler.
private nonisolated(unsafe) var filterProcess: pid_t = 0

/// Passes a signal on to the filter, unless its group gets the signal from the terminal, too.
private func passOn(_ number: Int32) {
  let child = unsafe filterProcess
  if child > 0, getpgid(child) != getpgrp() { kill(child, number) }
}

/// What a run of the filter left: the lines before and after, its report, and its store.
struct PreviewRun {
  /// Nil if the input is not known.
  private let before: String?
  private let after: String
  /// The lines of the user's file where the payloads begin, if the filter read a copy of it.
  private let numbers: [Int]?
  /// By line.
  private let report: [Int: ReportLine]
  let store: String

  /// Takes the files of a run.
  init(output: String, report: String, input: String?, store: String) throws {
    self.report = try Self.lines(ofReport: report)
    (before, after, self.store, numbers) = (input, output, store, nil)
  }

  /// Runs the filter beside this executable.
  ///
  /// - Parameters:
  ///   - flags: the user's flags of the filter.
  ///   - store: the user's store; nil for one in the work folder.
  init(playing file: String, _ flags: [String], store: String?, in work: WorkFolder) throws {
    let (input, output, report) = (work.file("input"), work.file("output"), work.file("report"))
    self.store = store ?? work.file("store")
    numbers = try Self.copyLines(of: file, to: input)
    var arguments = ["filter"] + flags + ["--report", report]
    if store == nil { arguments += ["--store", self.store] }
    try Self.filter(arguments, from: input, to: output)
    (before, after) = (input, output)
    self.report = try Self.lines(ofReport: report)
  }

  private static func lines(ofReport file: String) throws -> [Int: ReportLine] {
    var lines: [Int: ReportLine] = [:]
    try eachPayload(of: file) { payload in
      guard let line = try? ReportLine(parsing: payload.bytes) else {
        throw PreviewFailure.data(
          file, "line \(payload.line): this is no line of a report; give the file that --report of the filter wrote")
      }
      lines[line.line] = line
    }
    return lines
  }

  /// Writes each payload of a file as one line.
  ///
  /// - Returns: the lines where they begin.
  private static func copyLines(of file: String, to copy: String) throws -> [Int] {
    let parser = JSONParser()
    var (lines, numbers) = (Data(), [Int]())
    try eachPayload(of: file, joinsLines: true) { payload in
      guard payload.length <= PayloadReader.maximumLineLength else {
        throw PreviewFailure.data(file, "line \(payload.line) has \(payload.length) bytes; remove it: a payload has at most 1 MiB")
      }
      lines.append(contentsOf: payload.lineBytes(parser))
      lines.append(UInt8(ascii: "\n"))
      numbers.append(payload.line)
    }
    guard FileManager.default.createFile(atPath: copy, contents: lines) else { throw PreviewFailure.file(copy, errno) }
    return numbers
  }

  private static func filter(_ arguments: [String], from input: String, to output: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("attache")
    process.arguments = arguments
    guard FileManager.default.createFile(atPath: output, contents: nil), let source = FileHandle(forReadingAtPath: input),
      let target = FileHandle(forWritingAtPath: output)
    else { throw PreviewFailure.file(output, errno) }
    (process.standardInput, process.standardOutput) = (source, target)
    // A signal stops the filter; this process then removes its files. An ignored signal would stay
    // ignored in the filter.
    for number in [SIGINT, SIGTERM] where !StopSignals.isIgnored(number) { signal(number, passOn) }
    do {
      try process.run()
      unsafe filterProcess = process.processIdentifier
    } catch {
      let isInstalled = process.executableURL.map { FileManager.default.isExecutableFile(atPath: $0.path) } ?? false
      let advice = Shortage.ofDescriptors.map { "; \($0)" } ?? (isInstalled ? "" : "; scripts/install installs it")
      throw PreviewFailure.exit("the filter cannot start (\(error.localizedDescription))\(advice)", ExitStatus.unavailable)
    }
    process.waitUntilExit()
    // A line that is no JSON is shown as such.
    guard process.terminationReason == .exit, [0, ExitStatus.data].contains(process.terminationStatus) else {
      throw ExitCode(process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus)
    }
  }

  /// Calls `body` with each payload of a file, in order.
  ///
  /// - Parameter joinsLines: whether a payload may span several lines. In the files of a run, it does
  ///   not.
  static func eachPayload(of file: String, joinsLines: Bool = false, _ body: (InputPayload) throws -> Void) throws {
    func orExit<Value>(_ body: () throws(SystemError) -> Value) throws -> Value {
      do throws(SystemError) { return try body() } catch { throw PreviewFailure.file(file, error.number) }
    }
    let descriptor = file == "-" ? STDIN_FILENO : try orExit { () throws(SystemError) in try PayloadInput.open(file) }
    let input = try orExit { () throws(SystemError) in try PayloadInput(descriptor: descriptor, joinsLines: joinsLines) }
    while let payload = try orExit({ () throws(SystemError) in try input.next() }) { try body(payload) }
    if descriptor != STDIN_FILENO { close(descriptor) }
  }

  /// Returns what the page shows, in the order of the lines.
  func items(_ builder: ItemBuilder) throws -> [PreviewItem] {
    var inputs: [Int: InputPayload] = [:]
    if let before { try Self.eachPayload(of: before) { inputs[$0.line] = $0 } }
    var items: [PreviewItem] = []
    try Self.eachPayload(of: after) { payload in
      var made = builder.items(from: inputs[payload.line], to: payload, report[payload.line])
      if let numbers, numbers.indices.contains(payload.line - 1) {
        for index in made.indices { made[index].line = numbers[payload.line - 1] }
      }
      items += made
    }
    return items
  }
}
