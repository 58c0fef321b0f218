internal import Crypto
internal import Glibc

/// The queue's folder with its lock, and the two numbers that stand in the lock's file.
///
/// The numbers are overwritten in place, which takes no room on the disk: the number of the next payload, the fence of the last lease, and the start of
/// the machine in which both were written.
final class FolderFiles: Sendable {
  let folder: QueueFolder
  private let file: Int32

  /// The numbers in the lock's file.
  struct Numbers {
    var next: Int64 = 1
    var fence: Int64 = 0
    var boot = ""
  }

  /// What makes a folder a queue; its text is the version of what is described at ``FolderQueue``.
  static let marker = "queue"
  static let version = "attache queue 1\n"
  static let lock = "lock"
  static let workers = "workers"
  private static let folders = ["new", "tmp", "ready", "later", "suspects", "leased", "done", "dead", "results"]
  /// What only comes into being when it is needed.
  private static let others = ["originals", "keys", "holds", "refused"]
  private static let width = 20

  /// Opens a queue.
  ///
  /// - Parameter creates: whether it is made where there is none: at a path that is free, or in a folder that is empty or has a queue's folders only.
  init(path: String, creates: Bool) throws(QueueError) {
    if creates, unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemFailure(errno, at: path).error }
    if !creates, unsafe access(path, F_OK) != 0, errno == ENOENT {
      throw .unavailable("\(path): there is no such queue; `attache enqueue` makes one")
    }
    folder = try QueueFolder(at: path)
    let exists = try Self.isQueue(folder)
    if !exists { try Self.check(folder, creates: creates) }
    file = try Self.open(folder)
    if !exists { try locked(make) }
  }

  deinit {
    close(file)
  }

  private static func isQueue(_ folder: QueueFolder) throws(QueueError) -> Bool {
    guard let bytes = try folder.bytes(of: marker) else { return false }
    guard bytes == Array(version.utf8) else {
      throw .unavailable("\(folder.path): is no queue of this version; name another one")
    }
    return true
  }

  private static func check(_ folder: QueueFolder, creates: Bool) throws(QueueError) {
    guard creates else { throw .unavailable("\(folder.path): is no queue; `attache enqueue` makes one") }
    let own = Set(folders + others + [lock, workers])
    let foreign = try folder.names(in: ".").filter { !own.contains($0) }
    // Another process may have made it meanwhile.
    guard let name = foreign.min(), !folder.has(marker) else { return }
    throw .unavailable("\(folder.path): holds other things (\(name)); a queue needs a folder of its own")
  }

  private static func open(_ folder: QueueFolder) throws(QueueError) -> Int32 {
    var file = unsafe openat(folder.descriptor, lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, folder.mode & 0o666)
    // Who may only read can look at the queue all the same.
    if file < 0, errno == EROFS || errno == EACCES { file = unsafe openat(folder.descriptor, lock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
    guard file >= 0 else { throw SystemFailure(errno, at: folder.path(of: lock)).error }
    return file
  }

  /// Makes the folders, and the marker last.
  private func make() throws(QueueError) {
    guard !folder.has(Self.marker) else { return }
    fchmod(file, folder.mode & 0o666)
    try write(Numbers())
    for name in Self.folders { try folder.makeFolder(name) }
    try folder.write(Array(Self.version.utf8), to: "tmp/0")
    try folder.move("tmp/0", to: Self.marker)
  }

  /// Does something while no other handle does.
  func locked<Result>(_ body: () throws(QueueError) -> Result) throws(QueueError) -> Result {
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else { throw SystemFailure(errno, at: folder.path(of: Self.lock)).error }
    }
    defer { flock(file, LOCK_UN) }
    return try body()
  }

  // MARK: Numbers

  /// The numbers, which are found anew in each start of the machine: a power failure may have taken them back.
  func numbers(_ now: FolderMoment) throws(QueueError) -> Numbers {
    var bytes = [UInt8](repeating: 0, count: 3 * (Self.width + 1))
    guard unsafe pread(file, &bytes, bytes.count, 0) >= 0 else { throw SystemFailure(errno, at: folder.path(of: Self.lock)).error }
    let parts = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" || $0 == "\0" }
    var numbers = Numbers()
    if parts.count > 1 { (numbers.next, numbers.fence) = (Int64(parts[0]) ?? 1, Int64(parts[1]) ?? 0) }
    if parts.count > 2 { numbers.boot = String(parts[2]) }
    guard numbers.boot != now.boot else { return numbers }
    numbers.next = max(numbers.next, try lastNumber() + 1)
    if !numbers.boot.isEmpty { numbers.fence += Self.lostFences }
    numbers.boot = now.boot
    try write(numbers)
    return numbers
  }

  /// More leases than a power failure takes back.
  private static let lostFences: Int64 = 1 << 32

  func setNext(_ next: Int64) throws(QueueError) { try write(next, at: 0) }

  func setFence(_ fence: Int64) throws(QueueError) { try write(fence, at: Self.width + 1) }

  private func write(_ numbers: Numbers) throws(QueueError) {
    try setNext(numbers.next)
    try setFence(numbers.fence)
    try write(numbers.boot, at: 2 * (Self.width + 1), end: "\n")
  }

  private func write(_ value: some LosslessStringConvertible, at offset: Int, end: String = " ") throws(QueueError) {
    let text = String(value)
    let bytes = Array((text + String(repeating: " ", count: Self.width - text.utf8.count) + end).utf8)
    guard unsafe pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count else {
      throw SystemFailure(errno, at: folder.path(of: Self.lock)).error
    }
  }

  /// The number of the last payload that there is.
  private func lastNumber() throws(QueueError) -> Int64 {
    var last: Int64 = 0
    var places = ["leased", "suspects"] + (try folder.names(in: "later")).map { "later/\($0)" }
    for parent in try folder.names(in: "ready").map({ "ready/\($0)" }) + ["results"] {
      if let bucket = try folder.names(in: parent).compactMap({ Int64($0) }).max() { places.append("\(parent)/\(bucket)") }
    }
    for place in places {
      for name in try folder.names(in: place) { last = max(last, FolderEntry(name)?.id ?? 0) }
    }
    return last
  }

  /// What stands for bytes of any length in a name: 64 hexadecimal digits.
  static func digest(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return SHA256.hash(data: Array(bytes)).reduce(into: "") { text, byte in
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
  }
}
