internal import Glibc

/// Memory ranges that `writev` writes together, in order and completely.
@safe final class GatherBuffer {
  /// The maximum number of ranges per call (IOV_MAX, writev(2)).
  static let maximumVectors = 1024

  private let vectors: UnsafeMutablePointer<iovec>
  private var first = 0
  private var end = 0
  /// The number of bytes that are not written yet.
  private(set) var count = 0

  init() {
    unsafe vectors = .allocate(capacity: Self.maximumVectors)
  }

  deinit {
    unsafe vectors.deallocate()
  }

  /// Adds a range of a segment. The segment's block must stay alive until it is written.
  func add(_ segment: Segment, _ range: Range<Int>) {
    let start = segment.range.lowerBound
    unsafe add(UnsafeRawBufferPointer(segment.block[start + range.lowerBound..<start + range.upperBound]))
  }

  /// Adds bytes, which must stay in place until they are written.
  func add(_ bytes: UnsafeRawBufferPointer) {
    guard unsafe !bytes.isEmpty else { return }
    unsafe vectors[end] = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    end += 1
    count += bytes.count
  }

  /// Writes everything that was added. Waits if the descriptor is nonblocking and not ready.
  ///
  /// - Throws: ``SystemError`` of `writev` or `poll`.
  func write(to descriptor: Int32) throws(SystemError) {
    defer { (first, end, count) = (0, 0, 0) }
    while first < end {
      let written = unsafe writev(descriptor, vectors + first, Int32(end - first))
      if written >= 0 {
        drop(written)
      } else if errno == EAGAIN {
        try WholeWrite.waitUntilWritable(descriptor)
      } else if errno != EINTR {
        throw SystemError(call: "writev", number: errno)
      }
    }
  }

  /// Removes the bytes that the kernel accepted. The last range may be written only in part.
  private func drop(_ written: Int) {
    var left = written
    count -= written
    while first < end, unsafe left >= vectors[first].iov_len {
      unsafe left -= vectors[first].iov_len
      first += 1
    }
    guard left > 0, let base = unsafe vectors[first].iov_base else { return }
    unsafe vectors[first] = iovec(iov_base: base + left, iov_len: vectors[first].iov_len - left)
  }
}
