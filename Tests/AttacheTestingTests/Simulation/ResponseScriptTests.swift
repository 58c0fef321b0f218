@testable import AttacheTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ResponseScriptTests {
  private static let photo = Medium(name: "photo.jpg", bytes: [UInt8](0..<100))
  private static let all: ClosedRange<UInt8> = 0...99

  @Test
  func `a file goes with its length and in good order`() {
    #expect(
      moves(OriginStep(.send(Self.photo, count: nil))) == [
        .head(head(200, .length(100)), isOpen: false), .body(Array(Self.all)), .end,
      ])
  }

  @Test
  func `a part of a file promises the whole and breaks off`() {
    #expect(
      moves(OriginStep(.send(Self.photo, count: 10))) == [
        .head(head(200, .length(100)), isOpen: false), .body(Array(0..<10)), .close,
      ])
  }

  @Test
  func `two parts of a file are one whole`() {
    let steps = [OriginStep(.send(Self.photo, count: 10)), OriginStep(.send(Self.photo, count: nil), at: .milliseconds(250))]
    let moves = Array(ResponseScript(steps).moves)
    #expect(moves.map(\.action).dropFirst() == [.body(Array(0..<10)), .body(Array(10..<100)), .end])
    #expect(moves.map(\.moment)[2] == .at(.milliseconds(250)))
  }

  @Test(arguments: [OriginStep.Action.stall, .reset, .close])
  func `what has no head is a stall, a reset or a close by itself`(action: OriginStep.Action) {
    let moves = Array(ResponseScript([OriginStep(action, at: .seconds(1))]).moves)
    #expect(moves.count == 1)
    #expect(moves.first?.moment == .at(.seconds(1)))
  }

  @Test
  func `the head goes when the last of its steps is due, or with the body`() {
    let late = ResponseScript([OriginStep(.status(503)), OriginStep(.header(name: "A", value: "b"), at: .seconds(1))])
    #expect(late.moves.first { _ in true }?.moment == .at(.seconds(1)))
    let silent = ResponseScript([OriginStep(.send(Self.photo, count: nil), at: .seconds(2))])
    #expect(silent.moves.first { _ in true }?.moment == .at(.seconds(2)))
    let early = ResponseScript([OriginStep(.status(200)), OriginStep(.send(Self.photo, count: nil), at: .seconds(2))])
    #expect(early.moves.first { _ in true }?.moment == .after(.zero))
  }

  @Test
  func `a redirect is a 302 with its location unless it says otherwise`() {
    #expect(
      moves(OriginStep(.redirect("/b"))).first
        == .head(head(302, .length(0), HeaderField("Location", "/b"), HeaderField("Content-Length", "0")), isOpen: false))
    let permanent = ResponseScript([OriginStep(.status(301)), OriginStep(.redirect("/b"))])
    guard case .head(let head, _)? = permanent.moves.map(\.action).first else { return #expect(Bool(false)) }
    #expect(head.status == 301)
  }

  @Test(arguments: [
    (OriginStep.Length.offBy(10), ResponseScript.Framing.length(110), ResponseScript.Action.close),
    (.offBy(-10), .length(90), .close), (.bytes(100), .length(100), .end), (.chunked, .chunked, .end), (.absent, .untilClose, .close),
  ])
  func `a length is told as the scenario says`(length: OriginStep.Length, framing: ResponseScript.Framing, end: ResponseScript.Action) {
    let script = ResponseScript([OriginStep(.length(length)), OriginStep(.send(Self.photo, count: nil))])
    let moves = script.moves.map(\.action)
    guard case .head(let head, _)? = moves.first else { return #expect(Bool(false)) }
    #expect(head.framing == framing)
    #expect(moves.last == end)
  }

  @Test
  func `a length that the scenario writes as a field is the only one`() {
    let lengths = ["100", "99"].map { OriginStep(.header(name: "Content-Length", value: $0)) }
    let script = ResponseScript(lengths + [OriginStep(.send(Self.photo, count: nil))])
    guard case .head(let head, _)? = script.moves.map(\.action).first else { return #expect(Bool(false)) }
    #expect(head.fields.map(\.value) == ["100", "99"])
    #expect(head.framing == .asWritten)
  }

  @Test
  func `a repeated piece comes with its pauses, and begins the file anew at its end`() {
    let step = OriginStep(.send(Self.photo, count: 60), at: .seconds(1), repetition: .times(3), every: .milliseconds(100))
    let moves = Array(ResponseScript([step]).moves)
    #expect(moves.map(\.action)[1...3] == [.body(Array(0..<60)), .body(Array(60..<100)), .body(Array(0..<60))])
    #expect(moves.map(\.moment)[1...3] == [.at(.seconds(1)), .after(.milliseconds(100)), .after(.milliseconds(100))])
    #expect(moves.first?.action == .head(head(200, .length(160)), isOpen: false))
    #expect(moves.last?.action == .end)
  }

  @Test
  func `what is repeated for ever is chunked and has no end`() {
    let script = ResponseScript([OriginStep(.text("x"), repetition: .forever)])
    guard case .head(let head, _)? = script.moves.map(\.action, upTo: 1).first else { return #expect(Bool(false)) }
    #expect(head.framing == .chunked)
    #expect(script.moves.map(\.action, upTo: 1_000).dropFirst().allSatisfy { $0 == .body(Array("x".utf8)) })
  }

  @Test
  func `repeated fields keep the head open`() {
    let field = HeaderField("X-Pad", "y")
    let drip = OriginStep(.header(name: "X-Pad", value: "y"), repetition: .times(2), every: .seconds(1))
    let moves = ResponseScript([drip, OriginStep(.text("body"))]).moves.map(\.action)
    #expect(moves.dropFirst() == [.field(field), .field(field), .headEnd, .body(Array("body".utf8)), .end])
    let endless = ResponseScript([OriginStep(.header(name: "X-Pad", value: "y"), repetition: .forever)])
    #expect(endless.moves.map(\.action, upTo: 500).dropFirst().allSatisfy { $0 == .field(field) })
  }

  @Test
  func `a stall behind the head tells no length`() {
    guard case .head(let head, _)? = moves(OriginStep(.status(200)), OriginStep(.stall)).first else { return #expect(Bool(false)) }
    #expect(head.framing == .untilClose)
  }

  @Test
  func `bytes in the place of HTTP have no head, and the connection closes after them`() {
    #expect(moves(OriginStep(.raw("SSH-2.0\r\n"))) == [.raw(Array("SSH-2.0\r\n".utf8)), .close])
  }

  @Test
  func `each request of a path has its own steps, and the last list serves all that follow`() {
    var origin = OriginScript()
    origin.paths["/a"] = PathScript(responses: [[OriginStep(.reset)], [OriginStep(.stall)]])
    #expect(origin.path(of: "/a?b=c") == "/a")
    #expect(origin.steps(for: "/a", turn: 1) == [OriginStep(.reset)])
    #expect(origin.steps(for: "/a", turn: 2) == [OriginStep(.stall)])
    #expect(origin.steps(for: "/a", turn: 7) == [OriginStep(.stall)])
    #expect(origin.steps(for: "/b", turn: 1).first == OriginStep(.status(404)))
  }

  private func moves(_ steps: OriginStep...) -> [ResponseScript.Action] {
    ResponseScript(steps).moves.map(\.action)
  }

  private func head(_ status: Int, _ framing: ResponseScript.Framing, _ fields: HeaderField...) -> ResponseScript.Head {
    guard fields.isEmpty, case .length(let count) = framing else {
      return ResponseScript.Head(status: status, fields: fields, framing: framing)
    }
    return ResponseScript.Head(status: status, fields: [HeaderField("Content-Length", String(count))], framing: framing)
  }
}

extension ResponseMoves {
  fileprivate func map<Value>(_ transform: (Element) -> Value, upTo count: Int) -> [Value] {
    prefix(count).map(transform)
  }
}
