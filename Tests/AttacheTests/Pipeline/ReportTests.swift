import Glibc
import Synchronization
import Testing

@testable import Attache

@Suite struct ReportTests {
  private func text(_ record: ReportRecord) -> String {
    var bytes: [UInt8] = []
    record.write(to: &bytes, showing: .short)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a record has every field of its line and of its media`() {
    let medium = MediaRecord(
      url: "https://a.example/\"x\"", reason: .deadline, status: 200, bytes: 16384, cache: .joined, type: .jpeg, attempts: 1,
      timing: MediaRecord.Timing(
        dns: .microseconds(100), connect: .microseconds(300), tls: .zero, firstByte: .milliseconds(2), total: .milliseconds(1950)))
    let record = ReportRecord(
      line: 7, decision: Decision(outcome: .fallback, reason: .deadline, dialect: "firebase", media: [medium]),
      placeWait: .microseconds(12_500), elapsed: .nanoseconds(1_951_200_400), lateness: .microseconds(-48_800))
    #expect(
      text(record) == """
        {"line":7,"outcome":"fallback","reason":"deadline","dialect":"firebase","place_wait_ms":12.5,"elapsed_ms":1951.2,"lateness_ms":-48.8,"media":[\
        {"url":"https://a.example/\\"x\\"","reason":"deadline","status":200,"bytes":16384,"cache":"joined","type":"public.jpeg","attempts":1,\
        "dns_ms":0.1,"connect_ms":0.3,"tls_ms":0,"first_byte_ms":2,"total_ms":1950}]}\n
        """)
  }

  @Test func `what there is not is null`() {
    let record = ReportRecord(line: 1, decision: Decision(outcome: .attached, media: [MediaRecord(url: "")]), elapsed: .milliseconds(3))
    #expect(
      text(record) == """
        {"line":1,"outcome":"attached","reason":null,"dialect":null,"place_wait_ms":0,"elapsed_ms":3,"lateness_ms":null,"media":[\
        {"url":"","reason":null,"status":null,"bytes":0,"cache":"miss","type":null,"attempts":0,\
        "dns_ms":null,"connect_ms":null,"tls_ms":null,"first_byte_ms":null,"total_ms":null}]}\n
        """)
  }

  /// The report of a run that decides its candidates at the end, in the order of `positions`.
  private func report(of input: String, _ positions: [Int], isOrdered: Bool = true) throws -> (report: [Substring], held: Int) {
    let pipe = try Pipe()
    let limits = WindowLimits(isOrdered: isOrdered, budget: .seconds(2), isReporting: true)
    let filter = try ScriptedFilter(limits, report: pipe.duplicateOutput(), maximumLine: 100)
    pipe.closeOutput()
    let (pending, contents) = (PendingSlots(), try PipeContents(of: pipe))
    _ = try filter.run(
      input, decide: pending.add,
      end: { [window = filter.window] in for position in positions { window.decide(pending.take(position), .original) } })
    let text = String(decoding: contents.wait(), as: UTF8.self)
    return (text.split(separator: "\n"), filter.window.load.heldBytes)
  }

  private func line(_ number: Int, _ outcome: String, _ reason: String?) -> String {
    """
    {"line":\(number),"outcome":"\(outcome)","reason":\(reason.map { "\"\($0)\"" } ?? "null"),"dialect":null,"place_wait_ms":0,"elapsed_ms":0,\
    "lateness_ms":-2000,"media":[]}
    """
  }

  @Test(arguments: [true, false])
  func `there is a record for every line, blank ones included, in the order of the input unless lines are unordered`(isOrdered: Bool) throws
  {
    let long = String(repeating: "l", count: 101)
    let report = try report(of: "c\n\ni\nc\nx\nc\n", [2, 0, 0], isOrdered: isOrdered)
    let lines = [
      line(1, "fallback", "deadline"), line(2, "passthrough", "payload.no-alert"), line(3, "invalid", "payload.json"),
      line(4, "fallback", "deadline"), line(5, "passthrough", "payload.no-alert"), line(6, "fallback", "deadline"),
    ]
    #expect(report.report.map(String.init) == (isOrdered ? lines : [1, 2, 4, 5, 0, 3].map { lines[$0] }))
    #expect(report.held == 0)
    #expect(try self.report(of: "\(long)\n\n", []).report.first.map(String.init) == line(1, "passthrough", "payload.size"))
  }

  @Test func `a record says what is known beside the reason, and repeats the value that was asked for`() {
    let record = ReportRecord(
      line: 1,
      decision: Decision(.invalid, .payloadJSON, LineNote(cause: .json(JSONMistake(#"{"a":1,}"#)), key: Array("\"a\u{202E}\"".utf8))),
      elapsed: .zero)
    #expect(
      text(record) == """
        {"line":1,"outcome":"invalid","reason":"payload.json","dialect":null,"place_wait_ms":0,"elapsed_ms":0,"lateness_ms":null,"media":[],\
        "column":8,"why":"a comma stands before the closing bracket; remove it","key":"a\\u202e"}\n
        """)
  }

  @Test func `line numbers have no gaps however many lines there are`() throws {
    let report = try report(of: String(repeating: "\ni\n", count: 6000), []).report
    #expect(report.count == 12_000)
    let isRight = report.enumerated().allSatisfy {
      $1 == line($0 + 1, $0 % 2 == 0 ? "passthrough" : "invalid", $0 % 2 == 0 ? "payload.no-alert" : "payload.json")
    }
    #expect(isRight)
  }

  @Test func `a report that cannot be written fails once, and its lines take no room`() throws {
    let failures = Mutex<[SystemError]>([])
    let written = Mutex(0)
    let writer = try ReportWriter(
      descriptor: try ReportFile.open("/dev/full"), machine: SystemMachine(), showing: .short,
      written: { bytes in written.withLock { $0 += bytes } },
      failed: { error in failures.withLock { $0.append(error) } })
    let items = (0..<2).map { ReportItem(account: .passing(first: $0, count: 1, reasons: [.payloadNoAlert]), lateness: .zero) }
    let thread = try Thread.start("report") { writer.run() }
    for item in items { writer.add([item]) }
    writer.finish()
    thread.join()
    #expect(failures.withLock { $0 } == [SystemError(call: "writev", number: ENOSPC)])
    #expect(written.withLock { $0 } == items.reduce(0) { $0 + $1.charge })
  }

  @Test func `a report that nobody reads stops the reader, and no line that it has read`() throws {
    let (pipe, limits) = (try Pipe(), WindowLimits(windowBytes: 10_000, isReporting: true))
    let filter = try ScriptedFilter(limits, report: pipe.duplicateOutput())
    pipe.closeOutput()
    try filter.start()
    let text = String(repeating: "\n", count: 100_000)
    let feeder = try Thread.start("feeder") { [input = filter.input] in
      input.write(text.utf8)
      input.closeOutput()
    }
    filter.waitUntilReaderWaits()
    let report = try PipeContents(of: pipe)
    #expect(filter.output.readAll() == Array(text.utf8))
    feeder.join()
    filter.join()
    #expect(report.wait().count { $0 == 10 } == 100_000)
  }
}
