internal import Glibc

extension UnsafeRawBufferPointer {
  /// Returns the number of bytes up to and including the first occurrence of `byte`, by `memchr`;
  /// nil when there is none.
  func distance(behind byte: UInt8) -> Int? {
    guard let start = baseAddress, let found = unsafe memchr(start, Int32(byte), count) else { return nil }
    return unsafe UnsafeRawPointer(found) - start + 1
  }
}
