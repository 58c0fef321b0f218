import AttacheTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PromiseCheckTests {
  /// An output that breaks the promise, and the expected findings.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var output: String
    var findings: [String]

    init(_ description: String, _ output: String, _ findings: [String]) {
      testDescription = description
      self.output = output
      self.findings = findings
    }
  }

  private static let input = [#"{"n":1,"a":{"b":[1,2]}}"#, #"{"n":2,"a":{"b":[1,2]}}"#, "no json", #"{"n":4}"#]
  private static let (one, two, three, four) = (input[0], input[1], input[2], input[3])

  private static func named(_ findings: [Finding]) -> [String] {
    findings.map { "\($0.kind.rawValue) \($0.payload.map(String.init) ?? "-")" }
  }

  private func run(
    _ output: String, input: [String] = Self.input, endsWithLineFeed: Bool = true, allowedChanges: PromiseCheck.AllowedChanges = .members,
    arrivals: [Duration] = []
  ) -> RunAnalysis {
    var evidence = Evidence(input: input.map { Array($0.utf8) }, endsWithLineFeed: endsWithLineFeed)
    evidence.output = Array(output.utf8)
    evidence.arrivals = arrivals
    return RunAnalysis(evidence, allowedChanges: allowedChanges)
  }

  @Test(arguments: [
    Row("all as it came", "\(one)\n\(two)\n\(three)\n\(four)\n", []),
    Row(
      "members gained at any depth, written anew", "{ \"more\":0, \"a\" : {\"c\":1,\"b\":[1,2.0]}, \"n\":1e0}\n\(two)\n\(three)\n\(four)\n",
      []),
    Row("one lost in the middle", "\(one)\n\(three)\n\(four)\n", ["lost 2"]),
    Row("the last one lost", "\(one)\n\(two)\n\(three)\n", ["lost 4"]),
    Row("all lost", "", ["lost 1", "lost 2", "lost 3", "lost 4"]),
    Row("one twice", "\(one)\n\(two)\n\(two)\n\(three)\n\(four)\n", ["duplicated 2"]),
    Row("once plain and once enriched", "\(one)\n\(two)\n\(three)\n\(four)\n{\"n\":2,\"a\":{\"b\":[1,2]},\"x\":1}\n", ["duplicated 2"]),
    Row("two in each other's place", "\(two)\n\(one)\n\(three)\n\(four)\n", ["reordered 2"]),
    Row("the first at the end", "\(two)\n\(three)\n\(four)\n\(one)\n", ["reordered 1"]),
    Row("a member less", "\(one)\n{\"n\":2,\"a\":{}}\n\(three)\n\(four)\n", ["altered 2"]),
    Row("an element more", "\(one)\n{\"n\":2,\"a\":{\"b\":[1,2,3]}}\n\(three)\n\(four)\n", ["altered 2"]),
    Row("a changed byte where there is no JSON", "\(one)\n\(two)\nno jsom\n\(four)\n", ["altered 3"]),
    Row("a line of its own", "\(one)\nhello\n\(two)\n\(three)\n\(four)\n", ["altered -"]),
    Row("an empty line", "\(one)\n\n\(two)\n\(three)\n\(four)\n", ["altered -"]),
    Row("lost, and another altered", "{\"n\":1}\n\(three)\n\(four)\n", ["lost 2", "altered 1"]),
    Row("a line that breaks off", "\(one)\n{\"n\":2,\"a\":{\n\(three)\n\(four)\n", ["torn 2"]),
    Row("an enriched line that breaks off", "\(one)\n{\"n\":2,\"a\":{\"b\":[1,2]},\"x\":\n\(three)\n\(four)\n", ["torn 2"]),
    Row("a line in two parts", "\(one)\n{\"n\":2,\"a\":\n{\"b\":[1,2]}}\n\(three)\n\(four)\n", ["torn 2"]),
    Row("the end of a line only", "\(one)\n[1,2]}}\n\(three)\n\(four)\n", ["torn 2"]),
    Row("no line ending at the end", "\(one)\n\(two)\n\(three)\n\(four)", ["torn 4"]),
    Row("nothing but a beginning", "{\"n\":1", ["lost 2", "lost 3", "lost 4", "torn 1"]),
  ])
  func `a broken promise is found out by name`(_ row: Row) {
    #expect(Self.named(PromiseCheck().findings(run(row.output))) == row.findings)
  }

  @Test func `a line that is like another is blamed on the one in its place, where no line is missing`() {
    let input = [#"{"a":"x","z":"same end"}"#, #"{"b":"x","z":"other end"}"#]
    let output = #"{"b": "y","z":"other end"}"# + "\n" + #"{"a": "y","z":"same end"}"# + "\n"
    #expect(Self.named(PromiseCheck().findings(run(output, input: input))) == ["altered 1", "altered 2"])
    let findings = PromiseCheck().findings(run(output, input: input))
    #expect(findings[0].message.contains(#"a":"x""#), "\(findings[0].message)")
  }

  @Test func `a changed line is not taken for one that says nothing`() {
    let input = ["{}", "{}", #"{"a":1}"#]
    let changed = "{}\n{}\n" + #"{"a":2}"# + "\n"
    #expect(Self.named(PromiseCheck().findings(run(changed, input: input))) == ["altered 3"])
    let gained = "{}\n" + #"{"b":1}"# + "\n" + #"{"a":1}"# + "\n"
    #expect(PromiseCheck().findings(run(gained, input: input)).isEmpty)
  }

  @Test func `an object in an array may gain members too`() {
    let input = [#"{"list":[{"u":"v"},2]}"#]
    #expect(PromiseCheck().findings(run(#"{"list":[{"u":"v","local":1},2]}"# + "\n", input: input)).isEmpty)
    #expect(Self.named(PromiseCheck().findings(run(#"{"list":[{"u":"v"}]}"# + "\n", input: input))) == ["altered 1"])
  }

  @Test func `any order is no fault where it is allowed, and repeats neither`() {
    let output = run("\(Self.four)\n\(Self.one)\n\(Self.three)\n\(Self.two)\n")
    #expect(PromiseCheck(anyOrder: true).findings(output).isEmpty)
    #expect(PromiseCheck().findings(output).map(\.kind) == [.reordered, .reordered])
    let repeated = run("\(Self.one)\n\(Self.two)\n\(Self.two)\n\(Self.three)\n\(Self.four)\n")
    #expect(PromiseCheck(allowsRepeats: true).findings(repeated).isEmpty)
  }

  @Test func `equal lines are told apart by their number alone`() {
    let input = ["x", "x", "y", "x"]
    #expect(Self.named(PromiseCheck().findings(run("x\nx\ny\nx\n", input: input))) == [])
    #expect(Self.named(PromiseCheck().findings(run("x\ny\nx\n", input: input))).map { $0.prefix(4) } == ["lost"])
    #expect(Self.named(PromiseCheck().findings(run("x\nx\nx\ny\nx\n", input: input))).map { $0.prefix(4) } == ["dupl"])
  }

  @Test func `lines that say the same are told apart by their bytes where nothing is written anew`() {
    let input = [#"{"a":1}"#, #"{ "a":1}"#, "{\"a\":1}\r"]
    #expect(PromiseCheck().findings(run("{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n", input: input)).isEmpty)
    let member = #","attache":{"attachments":[{"url":"u","type":"t","size":1,"sha256":"s"}]}"#
    let output = "{ \"a\":1\(member)}\n{\"a\":1\(member)}\r\n{\"a\":1\(member)}\n"
    #expect(PromiseCheck(anyOrder: true).findings(run(output, input: input, allowedChanges: .splice(OutputPlace()))).isEmpty)
    #expect(PromiseCheck().findings(run(output, input: input, allowedChanges: .splice(OutputPlace()))).map(\.kind) == [.reordered])
  }

  @Test func `what says most is matched first`() {
    let input = ["{}", #"{"a":1}"#, #"{"a":1,"b":2}"#]
    let output = "{\"a\":1,\"c\":0}\n{\"a\":1,\"b\":2,\"c\":0}\n"
    #expect(Self.named(PromiseCheck().findings(run(output, input: input))) == ["lost 1"])
  }

  @Test(arguments: [
    (#"{"n":9007199254740993}"#, #"{"n":9007199254740992}"#, false), (#"{"n":-0.10e1}"#, #"{"n":-1}"#, true),
    (#"{"n":"\u00e9\ud83d\ude00"}"#, #"{"n":"é😀"}"#, true), (#"{"n":"é"}"#, #"{"n":"e\#u{301}"}"#, false),
    (#"{"n":"\ud800"}"#, #"{"n":"\ud800","m":0}"#, true), (#"{"n":null}"#, "{}", false), (#"{"n":1e999}"#, #"{"n":10e998}"#, true),
    ("[1]", "[ 1 ]", true), ("[1]", "[1,2]", false), (#"{"n":{}}"#, #"{"n":[]}"#, false), (#"{"n":01}"#, #"{"n":1}"#, false),
  ])
  func `a line is held when every value of it is`(_ original: String, _ line: String, _ isHeld: Bool) {
    #expect(PromiseCheck().findings(run(line + "\n", input: [original])).isEmpty == isHeld)
  }

  @Test func `a text deeper than a stack is no JSON`() {
    let deep = String(repeating: "[", count: 1_000_000)
    #expect(Self.named(PromiseCheck().findings(run(deep + "\n", input: ["{}"]))) == ["lost 1", "altered -"])
    #expect(PromiseCheck().findings(run(deep + "\n", input: [deep])).isEmpty)
  }

  @Test func `a line is late when it comes after it is due`() {
    let run = run("x\ny\n", input: ["x", "y"], arrivals: [.milliseconds(100), .milliseconds(501)])
    let findings = PromiseCheck().findings(run, due: [.milliseconds(500), .milliseconds(500)])
    #expect(Self.named(findings) == ["late 2"])
    #expect(findings[0].message == "it was due 500 ms after the start and came at 501 ms, 1 ms too late")
  }

  @Test func `an input without a last line ending may gain one, but not from attache`() {
    #expect(PromiseCheck().findings(run("x\ny\n", input: ["x", "y"], endsWithLineFeed: false)).isEmpty)
    #expect(PromiseCheck().findings(run("x\ny", input: ["x", "y"], endsWithLineFeed: false)).isEmpty)
    func strict(_ output: String) -> RunAnalysis {
      run(output, input: ["x", "y"], endsWithLineFeed: false, allowedChanges: .splice(OutputPlace()))
    }
    #expect(PromiseCheck().findings(strict("x\ny")).isEmpty)
    #expect(Self.named(PromiseCheck().findings(strict("x\ny\n"))) == ["altered 2"])
  }

  @Test func `2,000 lines that all came in another order are matched in no time`() {
    let input = (0..<2_000).map { #"{"n":\#($0)}"# }
    let output = input.reversed().map { "\(String($0.dropLast())),\"more\":1}\n" }.joined()
    #expect(PromiseCheck(anyOrder: true).findings(run(output, input: input)).isEmpty)
    let findings = PromiseCheck().findings(run(output, input: input))
    #expect(findings.count == 11 && findings.allSatisfy { $0.kind == .reordered })
  }

  @Test(arguments: [
    (#","attache":{"attachments":[{"url":"u","type":"t","size":1,"sha256":"s"}]}"#, true),
    (#""attache":{"attachments":[{"url":"u","type":"t","size":1,"sha256":"s"}]}"#, false),
    (#","attache":{"attachments":[]}"#, false), (#","attache":{}"#, false), (#","other":{}"#, false),
    (#", "attache":{"attachments":[{"url":"u","type":"t","size":1,"sha256":"s"}]},"b":1"#, false),
  ])
  func `attache itself may only splice its member in`(_ member: String, _ isAllowed: Bool) {
    let (head, tail) = (#"{"m":{"p": { "n":1 "#, #"} }, "z":0}"#)
    func findings(_ output: String) -> [Finding] {
      PromiseCheck().findings(run(output, input: [head + tail], allowedChanges: .splice(OutputPlace(payloadPath: ["m", "p"]))))
    }
    #expect(findings(head + member + tail + "\n").isEmpty == isAllowed)
    #expect(Self.named(findings(head + tail + " \n")) == ["altered 1"])
  }
}
