/// Tells of most URLs that the index has no row for them, without asking it: a Bloom filter of 128 KiB over the keys of the index.
///
/// What it does not know is certainly not in the index as it was when the filter was filled. A row that another process has written since
/// is not seen until it is filled again, which costs a fetch.
struct KeyFilter: Sendable {
  /// Of a key, three times as many bits say where it is noted.
  private static let bitsOfPlace = 20
  /// The keys with which it is filled at most: of 200 others it then takes one for a key of the index.
  static let capacity = 65_536

  private var words = [UInt64](repeating: 0, count: 1 << (bitsOfPlace - 6))

  init(_ numbers: some Sequence<Int64>) {
    for number in numbers { insert(number) }
  }

  mutating func insert(_ number: Int64) {
    for turn in 0..<3 {
      let place = Self.place(of: number, turn)
      words[place >> 6] |= 1 << UInt64(place & 63)
    }
  }

  func mayContain(_ number: Int64) -> Bool {
    (0..<3).allSatisfy { turn in
      let place = Self.place(of: number, turn)
      return words[place >> 6] & 1 << UInt64(place & 63) != 0
    }
  }

  /// Keys are hashes: their bits are as good as any.
  private static func place(of number: Int64, _ turn: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(bitPattern: number) >> UInt64(turn * bitsOfPlace)) & (1 << bitsOfPlace - 1)
  }
}
