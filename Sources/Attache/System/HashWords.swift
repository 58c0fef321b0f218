/// The 32 bytes of a SHA-256 hash, as four words.
///
/// A `SIMD4` would need memory that is aligned to 32 bytes, which costs more to allocate.
package struct HashWords: Hashable, Sendable, BitwiseCopyable {
  private var first: UInt64
  private var second: UInt64
  private var third: UInt64
  private var fourth: UInt64

  package init(_ first: UInt64 = 0, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0) {
    (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
  }

  /// A word; `index` is in 0…3.
  package subscript(index: Int) -> UInt64 {
    get {
      switch index {
      case 0: first
      case 1: second
      case 2: third
      default: fourth
      }
    }
    set {
      switch index {
      case 0: first = newValue
      case 1: second = newValue
      case 2: third = newValue
      default: fourth = newValue
      }
    }
  }

  /// The words of a hash in memory order, as big-endian numbers.
  var bigEndian: HashWords {
    var numbers = self
    for index in 0..<4 { numbers[index] = self[index].bigEndian }
    return numbers
  }

  /// Writes the first lower-case hexadecimal digits of big-endian words.
  ///
  /// - Parameters:
  ///   - count: the number of digits, at most 64.
  ///   - text: receives them at its start.
  func writeDigits(_ count: Int, to text: UnsafeMutableBufferPointer<UInt8>) {
    var rest: UInt64 = 0
    for index in 0..<count {
      rest = index % 16 == 0 ? self[index / 16] : rest << 4
      let digit = UInt8(rest >> 60)
      unsafe text[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
  }

  /// Returns the first lower-case hexadecimal digits of big-endian words, followed by `ending`.
  ///
  /// - Parameter count: the number of digits, at most 64.
  package func digits(_ count: Int, then ending: String = "") -> String {
    let end = count + ending.utf8.count
    return unsafe String(unsafeUninitializedCapacity: end) { text in
      unsafe writeDigits(count, to: text)
      for (index, byte) in ending.utf8.enumerated() { unsafe text[count + index] = byte }
      return end
    }
  }
}
