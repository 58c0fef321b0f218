/// Rows of a table, in the table's order.
struct RowSet {
  private var words: [UInt64]

  init(count: Int) {
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  mutating func insert(_ row: Int) {
    words[row / 64] |= 1 << UInt64(row % 64)
  }

  mutating func formUnion(_ other: RowSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  func forEach(_ body: (Int) -> Void) {
    for (index, word) in words.enumerated() {
      var word = word
      while word != 0 {
        body(index * 64 + word.trailingZeroBitCount)
        word &= word - 1
      }
    }
  }
}
