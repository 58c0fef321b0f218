import Testing

@testable import Attache

/// A state with short names for its operations. Lines are texts, and the time does not advance.
private final class Moves {
  static let now = MonotonicInstant(nanoseconds: 0)
  var state: WindowState

  init(_ limits: WindowLimits) {
    state = WindowState(limits: limits)
  }

  func append(_ text: String) {
    state.append(Segment(text), for: .none, at: Self.now)
  }

  func append(bytes: Int) {
    append(String(repeating: "x", count: bytes))
  }

  func reserve(_ text: String) -> WindowTicket? {
    state.reserve(line: 1, bytes: Segment(text), at: Self.now)
  }

  /// Decides a line: as the original, or as another text.
  func decide(_ ticket: WindowTicket, _ text: String? = nil) -> Bool {
    let record = ReportRecord(line: 1, decision: Decision(outcome: .fallback), elapsed: .zero)
    return state.decide(ticket, .whole(text.map { Segment($0) } ?? ticket.bytes), record, at: Self.now) != .refused
  }

  /// The next lines of the writer, which count as written; "-" if there are none yet, "." if there
  /// will be none.
  func take() -> String {
    var batch: [WindowEntry] = []
    switch state.take(into: &batch) {
    case .nothing: return "-"
    case .finished: return "."
    case .places: break
    }
    state.release(batch)
    return batch.reduce(into: "") { text, place in
      if case .whole(let segment) = place.output { text += String(decoding: segment.array, as: UTF8.self) }
    }
  }
}

@Suite struct WindowStateTests {
  @Test func `ordered, a line waits for the earlier ones`() throws {
    let moves = Moves(WindowLimits())
    moves.append("a")
    let b = try #require(moves.reserve("b"))
    moves.append("c")
    let d = try #require(moves.reserve("d"))
    #expect(moves.take() == "a")
    #expect(moves.take() == "-")
    #expect(moves.decide(d))
    #expect(moves.take() == "-")
    #expect(moves.decide(b))
    #expect(moves.take() == "bcd")
    #expect(moves.state.heldBytes == 0)
  }

  @Test func `unordered, a line leaves when it is decided`() throws {
    let moves = Moves(WindowLimits(isOrdered: false))
    let a = try #require(moves.reserve("a"))
    let b = try #require(moves.reserve("b"))
    moves.append("c")
    #expect(moves.take() == "c")
    #expect(moves.decide(b))
    #expect(moves.take() == "b")
    #expect(moves.decide(a))
    #expect(moves.take() == "a")
    #expect(moves.state.heldBytes == 0)
  }

  @Test(arguments: [true, false]) func `while a line is lent, nothing else leaves, and it leaves once`(isOrdered: Bool) throws {
    for isWritten in [true, false] {
      let moves = Moves(WindowLimits(isOrdered: isOrdered))
      let (first, second) = (try #require(moves.reserve("1")), try #require(moves.reserve("2")))
      #expect(moves.decide(first) && moves.state.lend(9) == nil)
      #expect(moves.take() == "1")
      #expect(moves.decide(second) && moves.state.lend(0) == nil)
      #expect(moves.state.lend(9)?.output?.count == 1)
      #expect(moves.state.lend(9) == nil)
      moves.append("3")
      moves.state.finish()
      #expect(moves.take() == "-" && !moves.state.hasWork)
      moves.state.takeBack(isWritten: isWritten)
      #expect(moves.take() == (isWritten ? "3" : "23"))
      #expect(moves.take() == "." && moves.state.heldBytes == 0)
    }
  }

  @Test(arguments: [true, false]) func `a second decision is refused and counted`(isOrdered: Bool) throws {
    let moves = Moves(WindowLimits(isOrdered: isOrdered))
    let ticket = try #require(moves.reserve("a"))
    #expect(moves.decide(ticket))
    #expect(!moves.decide(ticket, "b"))
    #expect(moves.take() == "a")
    #expect(!moves.decide(ticket, "b"))
    #expect(moves.take() == "-")
    #expect(moves.state.refusedDecisions == 2)
  }

  @Test(arguments: [true, false]) func `no more than the jobs are undecided`(isOrdered: Bool) throws {
    let moves = Moves(WindowLimits(jobs: 2, isOrdered: isOrdered))
    let ticket = try #require(moves.reserve("a"))
    #expect(moves.state.satisfies(.job(bytes: 1)))
    #expect(moves.reserve("b") != nil)
    #expect(!moves.state.satisfies(.job(bytes: 1)))
    #expect(moves.state.satisfies(.room))
    #expect(moves.decide(ticket))
    #expect(moves.state.satisfies(.job(bytes: 1)))
  }

  @Test func `the work behind the window limits the undecided lines too, but one may always be`() throws {
    let moves = Moves(WindowLimits(jobs: 9))
    #expect(moves.state.satisfies(.job(bytes: 1), places: { 0 }))
    let ticket = try #require(moves.reserve("a"))
    #expect(moves.state.satisfies(.job(bytes: 1), places: { 2 }))
    #expect(!moves.state.satisfies(.job(bytes: 1), places: { 1 }))
    #expect(!moves.state.satisfies(.job(bytes: 1, jobs: 2), places: { 2 }))
    #expect(moves.state.satisfies(.room, places: { 0 }), "lines that pass do not wait")
    #expect(moves.decide(ticket))
    #expect(moves.state.satisfies(.job(bytes: 1, jobs: 2), places: { 0 }))
    moves.state.stop()
    #expect(moves.reserve("b") == nil)
    #expect(moves.state.satisfies(.job(bytes: 1), places: { 0 }))
  }

  @Test func `each payload of a line takes a job, and a line with more than there are is decided alone`() throws {
    let moves = Moves(WindowLimits(jobs: 4))
    #expect(moves.state.satisfies(.job(bytes: 1, jobs: 9)))
    let reserved = moves.state.reserve(line: 1, bytes: Segment("a"), jobs: 3, at: Moves.now)
    let ticket = try #require(reserved)
    #expect(moves.state.undecidedCount == 3)
    #expect(moves.state.satisfies(.job(bytes: 1)))
    #expect(!moves.state.satisfies(.job(bytes: 1, jobs: 2)))
    #expect(moves.decide(ticket))
    #expect(moves.state.undecidedCount == 0)
  }

  @Test func `undecided lines of a mebibyte are few, however many jobs there are`() {
    let moves = Moves(WindowLimits(jobs: 256))
    let mebibyte = String(repeating: "x", count: 1 << 20)
    while moves.state.satisfies(.job(bytes: 1 << 20)), moves.reserve(mebibyte) != nil {}
    #expect(moves.state.undecidedCount == 8)
  }

  @Test func `the window counts bytes that wait for an earlier line`() throws {
    let moves = Moves(WindowLimits(windowBytes: 1000))
    let stalled = try #require(moves.reserve("a"))
    moves.append(bytes: 1000 - WindowEntry.overhead)
    #expect(moves.state.satisfies(.room))
    moves.append(bytes: 1)
    #expect(!moves.state.satisfies(.room))
    #expect(!moves.state.satisfies(.job(bytes: 1)))
    #expect(moves.decide(stalled))
    #expect(!moves.state.satisfies(.room))
    #expect(moves.take().utf8.count == 1002 - WindowEntry.overhead)
    #expect(moves.state.satisfies(.room))
  }

  @Test func `what waits for nothing but the writer is bounded too`() {
    let moves = Moves(WindowLimits(windowBytes: 8 << 20))
    while moves.state.satisfies(.room) { moves.append(bytes: 256 << 10) }
    #expect(moves.state.heldBytes == 4 * ((256 << 10) + WindowEntry.overhead))
  }

  @Test func `text that the report has not written takes room`() {
    let moves = Moves(WindowLimits(windowBytes: 1000))
    moves.state.holdForReport(1001)
    #expect(!moves.state.satisfies(.room))
    moves.state.holdForReport(-1)
    #expect(moves.state.satisfies(.room))
  }

  @Test func `quiet is when every line is decided`() throws {
    let moves = Moves(WindowLimits(isOrdered: false))
    #expect(moves.state.satisfies(.quiet))
    let ticket = try #require(moves.reserve("a"))
    #expect(!moves.state.satisfies(.quiet))
    #expect(moves.decide(ticket))
    #expect(moves.state.satisfies(.quiet))
  }

  @Test func `after a stop no candidate gets a place, and those that have one keep it`() throws {
    let moves = Moves(WindowLimits(jobs: 1))
    let ticket = try #require(moves.reserve("a"))
    moves.state.stop()
    #expect(moves.state.satisfies(.job(bytes: 1)))
    #expect(moves.reserve("b") == nil)
    moves.append("b")
    #expect(moves.decide(ticket))
    #expect(moves.take() == "ab")
  }

  @Test(arguments: [true, false]) func `the end comes when everything is decided and taken`(isOrdered: Bool) throws {
    let moves = Moves(WindowLimits(isOrdered: isOrdered))
    let ticket = try #require(moves.reserve("a"))
    moves.state.finish()
    #expect(moves.take() == "-")
    #expect(moves.decide(ticket))
    #expect(moves.take() == "a")
    #expect(moves.take() == ".")
  }

  @Test func `what is discarded takes no room and is over at once`() throws {
    let moves = Moves(WindowLimits(jobs: 1, windowBytes: 1))
    let ticket = try #require(moves.reserve("a"))
    moves.append(bytes: 100)
    #expect(moves.state.discard().count == 2)
    #expect(moves.take() == ".")
    #expect(moves.state.satisfies(.room))
    #expect(moves.reserve("b") == nil)
    #expect(moves.decide(ticket))
    #expect(moves.take() == ".")
  }
}
