/// The moves of one response in order. A repeated step is a separate move each time.
package struct ResponseMoves: Sequence, IteratorProtocol {
  private var items: ArraySlice<ResponseScript.Item>
  private let isRaw: Bool
  /// The number of times that the current item has run.
  private var turns = 0
  /// The offset reached in each file.
  private var offsets: [String: Int] = [:]

  init(_ script: ResponseScript) {
    items = script.items[...]
    isRaw = script.isRaw
  }

  /// Keeps only the moves of the body, without steps that repeat forever.
  init(bodyOf steps: [OriginStep]) {
    items = steps.filter { $0.repetition != .forever && $0.action.part == .body }.map { .step($0) }[...]
    isRaw = false
  }

  package mutating func next() -> ResponseScript.Move? {
    while let item = items.first {
      switch item {
      case .move(let move):
        items.removeFirst()
        return move
      case .step(let step): if let move = move(of: step) { return move }
      }
    }
    return nil
  }

  private mutating func move(of step: OriginStep) -> ResponseScript.Move? {
    turns += 1
    let moment: ResponseScript.Moment = turns > 1 ? .after(step.every ?? .zero) : step.at.map { .at($0) } ?? .after(.zero)
    var action = action(of: step)
    // An empty action that repeats forever is a stall.
    if step.repetition == .forever, action == .body([]) || action == .raw([]) { action = .stall }
    if step.isDone(after: turns) {
      items.removeFirst()
      turns = 0
    }
    return action.map { ResponseScript.Move(moment: moment, action: $0) }
  }

  private mutating func action(of step: OriginStep) -> ResponseScript.Action? {
    switch step.action {
    case .header(let name, let value): isRaw ? nil : .field(HeaderField(name, value))
    case .status, .redirect, .length: nil
    case .send(let medium, let count): bytes(piece(of: medium, count, beginsAnew: step.repetition != nil))
    case .text(let text): bytes(Array(text.utf8))
    case .hex(let raw): bytes(raw)
    case .raw(let text): .raw(Array(text.utf8))
    case .stall: .stall
    case .reset: .reset
    case .close: .close
    case .cut: .cut
    case .goAway: .goAway
    case .flood(let flood): .flood(flood)
    case .fetcher(let fault): .fetcher(fault)
    }
  }

  private func bytes(_ bytes: [UInt8]) -> ResponseScript.Action {
    isRaw ? .raw(bytes) : .body(bytes)
  }

  /// Returns the next bytes of a file. A repeated step starts the file again when it reaches its
  /// end.
  private mutating func piece(of medium: Medium, _ count: Int?, beginsAnew: Bool) -> [UInt8] {
    var offset = offsets[medium.name, default: 0]
    if beginsAnew, offset == medium.bytes.count { offset = 0 }
    let end = count.map { Swift.min(offset + $0, medium.bytes.count) } ?? medium.bytes.count
    offsets[medium.name] = end
    return Array(medium.bytes[offset..<end])
  }
}

extension OriginStep {
  fileprivate func isDone(after turns: Int) -> Bool {
    switch repetition {
    case nil: true
    case .times(let count): turns >= count
    case .forever: false
    }
  }
}
