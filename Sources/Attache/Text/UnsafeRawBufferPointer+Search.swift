internal import Glibc

extension UnsafeRawBufferPointer {
  /// How many bytes there are up to and with the first one of this value, by `memchr`; nil where
  /// there is none.
  func distance(behind byte: UInt8) -> Int? {
    guard let start = baseAddress, let found = unsafe memchr(start, Int32(byte), count) else { return nil }
    return unsafe UnsafeRawPointer(found) - start + 1
  }
}
