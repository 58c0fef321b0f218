/// Serializes numbers into bytes, in this machine's byte order.
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

  /// Overwrites the first bytes.
  mutating func replaceStart<Value: BitwiseCopyable>(with value: Value) {
    unsafe withUnsafeBytes(of: value) { source in
      unsafe bytes.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
    }
  }
}

/// Reads numbers from bytes that a ``ByteWriter`` made.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// Returns the next bytes, or nil when too few are left.
  mutating func read(count: Int) -> ArraySlice<UInt8>? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Returns the next number, or nil when too few bytes are left.
  mutating func read<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
    let count = MemoryLayout<Value>.size
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return unsafe rest.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
  }
}
