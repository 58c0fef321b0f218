/// What an input says, taken from its front; behind its end there are zeros.
struct InputBytes {
  private(set) var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) {
    rest = input[...]
  }

  mutating func byte() -> UInt8 {
    rest.popFirst() ?? 0
  }

  /// A number below `bound`.
  mutating func number(below bound: Int) -> Int {
    Int(byte()) % bound
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in byte() }
  }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number {
    bytes(Number.bitWidth / 8).reduce(0) { $0 << 8 | Number($1) }
  }
}

/// The pieces that a sender cuts what it sends into: the same seed, the same pieces.
struct Pieces: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>
  private var state: UInt64
  private let isWhole: Bool
  private let largest: Int

  /// - Parameter seed: 0 sends all at once.
  init(of bytes: ArraySlice<UInt8>, seed: UInt8, largest: Int) {
    rest = bytes
    state = UInt64(seed)
    isWhole = seed == 0
    self.largest = largest
  }

  mutating func next() -> [UInt8]? {
    guard !rest.isEmpty else { return nil }
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let count = isWhole ? rest.count : Swift.min(rest.count, 1 + Int(state >> 33) % Swift.max(1, largest))
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}
