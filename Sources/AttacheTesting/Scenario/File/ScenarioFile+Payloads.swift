internal import FoundationEssentials

extension ScenarioField {
  /// Parses the lines of input: a list of lines, or the name of a file that contains them.
  func payloadLines(_ files: ScenarioFolder) throws(ScenarioError) -> [String] {
    guard isList else { return try checked(linesOfFile(files)) }
    var lines: [String] = []
    for item in try list() {
      lines += try item.payloads()
      guard lines.count <= Self.maximumPayloads else { throw item.error("a scenario has at most \(Self.maximumPayloads) payloads") }
    }
    guard !lines.isEmpty else { throw error("the list is empty; a scenario needs a payload") }
    return try checked(lines)
  }

  private static let maximumPayloads = 1_000_000

  /// The maximum size of all lines together in bytes, after their letters are filled in.
  private static let maximumInput = 1_000_000_000

  /// Returns the lines if they are not too large together.
  private func checked(_ lines: [String]) throws(ScenarioError) -> [String] {
    var (size, line, lineSize) = (0, "", 0)
    for next in lines {
      // A line that is repeated with `times` is measured once.
      if !next.utf8.elementsEqual(line.utf8) { (line, lineSize) = (next, Placeholder.filledSize(of: next)) }
      let (sum, overflows) = size.addingReportingOverflow(lineSize)
      size = sum
      guard !overflows, size <= Self.maximumInput else {
        throw error("the payloads have more than \(Self.maximumInput) bytes together; write fewer, or shorter ones")
      }
    }
    return lines
  }

  private func payloads() throws(ScenarioError) -> [String] {
    guard isMapping else { return [try line()] }
    let fields = try members(of: ["line", "times"])
    guard let line = fields["line"] else { throw error("`line:` is missing") }
    guard let times = fields["times"] else { return [try line.line()] }
    return Array(repeating: try line.line(), count: try times.count(upTo: Self.maximumPayloads))
  }

  private func line() throws(ScenarioError) -> String {
    guard !isMapping, !isList else { throw error("a payload is a text: put it into 'single quotes', which keep its bytes as written") }
    let text = try text()
    guard !text.contains("\n") else { throw error("a payload is one line; remove the line feeds") }
    return text
  }

  private func linesOfFile(_ files: ScenarioFolder) throws(ScenarioError) -> [String] {
    let name = try text()
    let bytes: [UInt8]
    do throws(ScenarioFolder.Refusal) {
      guard let found = try files.read(name) else {
        throw ScenarioFolder.Refusal(description: "there is no file \(name) in the scenario's folder")
      }
      bytes = found
    } catch {
      throw self.error(error.description)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw error("\(name) is not UTF-8") }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    guard !lines.isEmpty else { throw error("\(name) is empty; a scenario needs a payload") }
    return lines
  }

  /// Parses a whole number from 1.
  func count(upTo maximum: Int) throws(ScenarioError) -> Int {
    let number = try number()
    guard (1...maximum).contains(number) else { throw error("expected a number from 1 to \(maximum)") }
    return number
  }
}
