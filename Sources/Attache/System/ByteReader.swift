extension [UInt8] {
  /// Appends a number, or a tuple of numbers, in this machine's byte order.
  mutating func put<Value: BitwiseCopyable>(_ value: Value) {
    unsafe Swift.withUnsafeBytes(of: value) { unsafe append(contentsOf: $0) }
  }

  /// Overwrites bytes with a number in this machine's byte order.
  mutating func put<Value: BitwiseCopyable>(_ value: Value, at place: Int) {
    unsafe withUnsafeMutableBytes { unsafe $0.storeBytes(of: value, toByteOffset: place, as: Value.self) }
  }
}

/// Reads numbers in this machine's byte order.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// Returns the next number, or nil when too few bytes are left.
  mutating func read<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
    let count = MemoryLayout<Value>.size
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return unsafe rest.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
  }
}

// The contents of frames, which a stranger may have sent.
extension ByteReader {
  /// Returns the next number.
  mutating func next<Value: BitwiseCopyable>(_ type: Value.Type) throws(FrameStream.Fault) -> Value {
    guard let value = read(type) else { throw .invalid }
    return value
  }

  /// Returns the next byte as a truth value.
  mutating func flag() throws(FrameStream.Fault) -> Bool {
    let byte = try next(UInt8.self)
    guard byte < 2 else { throw .invalid }
    return byte == 1
  }

  /// Returns the next bytes as UTF-8.
  mutating func text(of count: Int) throws(FrameStream.Fault) -> String {
    guard let text = String(validating: rest.prefix(count), as: UTF8.self), rest.count >= count else { throw .invalid }
    rest = rest.dropFirst(count)
    return text
  }

  /// Returns the remaining bytes as UTF-8.
  mutating func text(atMost maximum: Int) throws(FrameStream.Fault) -> String {
    guard rest.count <= maximum else { throw .invalid }
    return try text(of: rest.count)
  }

  func end() throws(FrameStream.Fault) {
    guard rest.isEmpty else { throw .invalid }
  }
}
