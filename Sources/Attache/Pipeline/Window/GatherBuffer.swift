internal import Glibc

/// Pieces of memory that leave together by `writev`, in order and entirely.
@safe final class GatherBuffer {
  /// What the kernel takes at a time (IOV_MAX, writev(2)).
  static let maximumVectors = 1024

  private let vectors: UnsafeMutablePointer<iovec>
  private var first = 0
  private var end = 0
  /// Bytes that are not written yet.
  private(set) var count = 0

  init() {
    unsafe vectors = .allocate(capacity: Self.maximumVectors)
  }

  deinit {
    unsafe vectors.deallocate()
  }

  /// Adds a range of a segment, whose block has to live until it is written.
  func add(_ segment: Segment, _ range: Range<Int>) {
    let start = segment.range.lowerBound
    unsafe add(UnsafeRawBufferPointer(segment.block[start + range.lowerBound..<start + range.upperBound]))
  }

  /// Adds bytes that have to stay where they are until they are written.
  func add(_ bytes: UnsafeRawBufferPointer) {
    guard unsafe !bytes.isEmpty else { return }
    unsafe vectors[end] = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    end += 1
    count += bytes.count
  }

  /// Writes everything that was added, waiting for the descriptor when it does not block.
  ///
  /// - Throws: ``SystemError`` of `writev`, or of `poll`.
  func write(to descriptor: Int32) throws(SystemError) {
    defer { (first, end, count) = (0, 0, 0) }
    while first < end {
      let written = unsafe writev(descriptor, vectors + first, Int32(end - first))
      if written >= 0 {
        drop(written)
      } else if errno == EAGAIN {
        try Self.waitUntilWritable(descriptor)
      } else if errno != EINTR {
        throw SystemError(call: "writev", number: errno)
      }
    }
  }

  /// Leaves out the bytes that the kernel took; the last piece may be half gone.
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

  private static func waitUntilWritable(_ descriptor: Int32) throws(SystemError) {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while unsafe poll(&request, 1, -1) == -1 {
      guard errno == EINTR else { throw SystemError(call: "poll", number: errno) }
    }
  }
}
