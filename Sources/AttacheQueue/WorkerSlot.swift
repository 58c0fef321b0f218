internal import CLinux
internal import Glibc
internal import Synchronization

/// A worker's place in the lock file beside a queue: how others of the machine know whether it is
/// there still.
///
/// The file has one byte for each worker that there ever was, at the worker's number: `R` while it
/// runs, `C` once it has closed the queue. The worker has its byte locked, and the kernel lets go
/// of the lock with the last of its process: a byte that is not locked and says `R` is a worker's
/// that died. The locks belong to the open file, so that two handles of one process are two
/// workers. The byte at 0 is nobody's: whoever locks it may make the queue, or take a number.
package final class WorkerSlot: Sendable {
  /// What became of a worker.
  package enum Holder: Equatable {
    case running
    /// Without closing the queue.
    case died
    case closed
    /// The file does not know it: it is another one than when the number was taken.
    case unknown
  }

  private let path: String
  private let file: Int32
  private let number = Mutex<Int64?>(nil)

  private static let running = UInt8(ascii: "R")
  private static let closed = UInt8(ascii: "C")

  /// Opens the file, and makes it where it is missing.
  ///
  /// - Parameters:
  ///   - path: the same for all handles of the queue, whatever name they know it by.
  ///   - mode: the permissions that a new one gets (``FileMode``).
  package init(path: String, mode: FileMode = .usual) throws(QueueError) {
    let file = try mode.open(path)
    self.path = path
    self.file = file
  }

  deinit {
    Glibc.close(file)
  }

  /// Does something while no other handle of the queue does the like.
  package func exclusively<Result>(_ body: () throws(QueueError) -> Result) throws(QueueError) -> Result {
    try lockFirst()
    defer { _ = linux_unlock_byte(file, 0) }
    return try body()
  }

  /// This worker's number, if it has taken one.
  package var current: Int64? { number.withLock(\.self) }

  /// This worker's number; the first call takes one.
  package func enter() throws(QueueError) -> Int64 {
    try number.withLock { number throws(QueueError) in
      if let number { return number }
      let taken = try exclusively(take)
      number = taken
      return taken
    }
  }

  /// What became of the worker of a number.
  package func holder(_ worker: Int64) -> Holder {
    if number.withLock({ $0 == worker }) { return .running }
    switch linux_is_byte_locked(file, Int(worker)) {
    case 0: break
    case 1: return .running
    default: return .unknown
    }
    var byte: UInt8 = 0
    guard unsafe pread(file, &byte, 1, off_t(worker)) == 1 else { return .unknown }
    return switch byte {
    case Self.running: .died
    case Self.closed: .closed
    default: .unknown
    }
  }

  /// Notes that this worker ends in good order. It takes no room on the disk.
  package func leave() {
    _ = linux_unlock_byte(file, Self.deliveryByte)
    number.withLock { number in
      guard let worker = number else { return }
      var byte = Self.closed
      unsafe pwrite(file, &byte, 1, off_t(worker))
      _ = linux_unlock_byte(file, Int(worker))
      number = nil
    }
  }

  /// The byte that readers and deliverers share, or have for themselves: behind all numbers of
  /// workers.
  private static let deliveryByte = 1 << 60

  /// Shares the undelivered results with others, until this handle is closed.
  ///
  /// - Returns: false when others are there that do not share them so.
  package func enterDelivery(_ share: DeliveryShare) throws(QueueError) -> Bool {
    while linux_share_byte(file, Self.deliveryByte, share.isExclusive ? 1 : 0) != 0 {
      if errno == EAGAIN || errno == EACCES { return false }
      guard errno == EINTR else { throw SystemFailure(errno, at: path).error }
    }
    return true
  }

  /// The next number: the file's size, which one byte is added to; a later one where somebody cut
  /// the file while workers run.
  private func take() throws(QueueError) -> Int64 {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw SystemFailure(errno, at: path).error }
    var worker = max(1, Int64(status.st_size))
    while linux_lock_byte(file, Int(worker), 0) != 0 {
      guard errno != EAGAIN && errno != EACCES else {
        worker += 1
        continue
      }
      guard errno == EINTR else { throw SystemFailure(errno, at: path).error }
    }
    var byte = Self.running
    guard unsafe pwrite(file, &byte, 1, off_t(worker)) == 1 else {
      let failure = SystemFailure(errno, at: path)
      _ = linux_unlock_byte(file, Int(worker))
      throw failure.error
    }
    return worker
  }

  private func lockFirst() throws(QueueError) {
    while linux_lock_byte(file, 0, 1) != 0 {
      guard errno == EINTR else { throw SystemFailure(errno, at: path).error }
    }
  }
}
