/// Puts numbers together to a run of bytes, in this machine's order.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  mutating func append<Value: BitwiseCopyable>(_ value: Value) {
    unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func append(_ more: some Collection<UInt8>) {
    bytes.append(contentsOf: more)
  }

  /// Writes over the first bytes.
  mutating func replaceStart<Value: BitwiseCopyable>(with value: Value) {
    unsafe withUnsafeBytes(of: value) { source in
      unsafe bytes.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
    }
  }
}

/// Takes them apart again.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// The next number; nil when the bytes do not suffice.
  mutating func read<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
    let count = MemoryLayout<Value>.size
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return unsafe rest.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
  }
}
