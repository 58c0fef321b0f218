internal import Glibc

/// A committed call of an earlier attache whose process was killed: its remaining steps, one a
/// line.
struct EarlierJournal {
  static let name: FileName = "journal"

  let folder: QueueFolder
  let lock: FolderLock

  /// Performs the steps, if there is a journal. A completed step changes nothing, so this can be
  /// repeated.
  func complete() throws(QueueError) {
    guard let bytes = try folder.bytes(of: Self.name) else { return }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    // Only a power failure leaves an incomplete journal. Its call was not committed.
    if lines.last.map({ $0.elementsEqual("end".utf8) }) ?? false {
      for line in lines.dropLast() { try take(line.split(separator: UInt8(ascii: "\t")).map(Self.unescaped)) }
    }
    try folder.remove(Self.name)
  }

  private func take(_ parts: [FileName]) throws(QueueError) {
    guard parts.count > 1, parts[0].bytes.count == 1, parts.allSatisfy(Self.isInside) else { return }
    switch (parts[0].bytes[0], parts.count) {
    case (UInt8(ascii: "m"), 3): try folder.move(parts[1], to: parts[2])
    case (UInt8(ascii: "l"), 3): try folder.link(parts[1], to: parts[2])
    // An empty file: the mark of a hold, or of a key, which the payload's name contains too.
    case (UInt8(ascii: "e"), _): break
    case (UInt8(ascii: "r"), _): try folder.remove(parts[1])
    case (UInt8(ascii: "d"), _): folder.removeFolder(parts[1])
    case (UInt8(ascii: "n"), _): if let next = parts[1].text.flatMap(Int64.init) { try setNext(next) }
    default: break
    }
  }

  /// Whether a path stays within the queue's folder.
  private static func isInside(_ path: FileName) -> Bool {
    path.bytes.first != UInt8(ascii: "/") && !path.bytes.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
  }

  private static func unescaped(_ part: ArraySlice<UInt8>) -> FileName {
    var bytes: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        bytes.append(byte)
        continue
      }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return FileName(bytes: bytes)
  }

  // MARK: The numbers in the lock's file

  /// The width of a number, in bytes. A space follows.
  private static let width = 20

  /// The number of the next payload, and the fence of the last lease.
  var numbers: (next: Int64, fence: Int64) {
    var bytes = [UInt8](repeating: 0, count: 2 * (Self.width + 1))
    guard unsafe pread(lock.file, &bytes, bytes.count, 0) > 0 else { return (1, 0) }
    let parts = bytes.split { $0 == UInt8(ascii: " ") || $0 == 0 }.map { Int64(String(decoding: $0, as: UTF8.self)) ?? 0 }
    func bounded(_ number: Int64) -> Int64 { min(max(0, number), EarlierEntry.bound) }
    return parts.count > 1 ? (max(1, bounded(parts[0])), bounded(parts[1])) : (1, 0)
  }

  private func setNext(_ next: Int64) throws(QueueError) {
    let text = String(next)
    let bytes = Array((text + String(repeating: " ", count: max(0, Self.width - text.utf8.count)) + " ").utf8)
    guard unsafe pwrite(lock.file, bytes, bytes.count, 0) == bytes.count else { throw SystemFailure(errno, at: folder.path).error }
  }
}

extension QueueFolder {
  /// Creates a hard link, unless the new name exists.
  func link(_ name: FileName, to newName: FileName) throws(QueueError) {
    while unsafe newName.withPath({ new in unsafe name.withPath { old in unsafe linkat(descriptor, old, descriptor, new, 0) } }) != 0 {
      if errno == EEXIST { return }
      guard errno == ENOENT else { throw failure(newName) }
      guard has(name) else { return }
      guard let parent = newName.parent, try makeFolder(parent) else { throw failure(newName) }
    }
  }
}
