internal import Attache
internal import Glibc
internal import Synchronization

/// A descriptor that delivers the bytes of another descriptor and keeps a copy.
final class TeeInput: Sendable {
  /// The descriptor for the filter to read. It is closed when this object is released.
  let descriptor: Int32
  private let kept = Mutex<[UInt8]>([])

  /// Starts to copy on a new thread.
  ///
  /// - Throws: ``SystemError`` when no pipe or thread can be created.
  init(of source: Int32) throws(SystemError) {
    let pipe = try PipeEnds()
    descriptor = pipe.read
    let copy = pipe.write
    do throws(SystemError) {
      try SystemMachine().start("tee") { [weak self] in
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
          let count = unsafe read(source, &buffer, buffer.count)
          if count < 0, errno == EINTR { continue }
          guard count > 0, let self, write(buffer[..<count], to: copy) else { break }
        }
        close(copy)
      }.detach()
    } catch {
      close(copy)
      throw error
    }
  }

  deinit {
    close(descriptor)
  }

  private func write(_ bytes: ArraySlice<UInt8>, to copy: Int32) -> Bool {
    kept.withLock { $0 += bytes }
    return (try? WholeWrite.write(Array(bytes), to: copy)) != nil
  }

  /// The lines so far, without their endings, and whether the last one ended with a line feed.
  var lines: (lines: [String], endsWithLineFeed: Bool) {
    let bytes = kept.withLock { $0 }
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    let endsWithLineFeed = lines.last == ""
    if endsWithLineFeed { lines.removeLast() }
    return (lines, endsWithLineFeed)
  }
}
