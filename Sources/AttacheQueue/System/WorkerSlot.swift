package import Attache
internal import CLinux
internal import Glibc
internal import Synchronization

/// A worker's entry in the lock file beside a queue. Other processes on the machine use it to see
/// whether the worker still runs.
///
/// The file has one byte for each worker that ever existed, at the worker's number: `R` while it
/// runs, `C` after it has closed the queue. The worker locks its byte, and the kernel releases the
/// lock when the process ends. So an unlocked byte that is `R` belongs to a worker that died. Locks
/// belong to the open file description, so two handles in one process are two workers. The byte at
/// 0 belongs to no worker. The lock of the whole file (``FileLock``), which is independent of those of
/// its bytes, is required to create the queue or to take a number.
///
/// Only those who may write the queue can open the file: any other process could hold its locks.
package final class WorkerSlot: Sendable {
  /// The state of a worker.
  package enum Holder: Equatable {
    /// The worker has its byte locked.
    case running
    /// The worker ended without closing the queue.
    case died
    /// The worker closed the queue.
    case closed
    /// The file has no entry for the worker: it is not the file in which the number was taken.
    case unknown
  }

  private let path: String
  private let file: Int32
  private let waits: LockWaits
  private let number = Mutex<Int64?>(nil)

  private static let running = UInt8(ascii: "R")
  private static let closed = UInt8(ascii: "C")

  /// Opens the file. Creates it when it is missing.
  ///
  /// - Parameters:
  ///   - path: the same for all handles of the queue, whatever name they use for it.
  ///   - mode: the permissions of a new file (``FileMode``).
  ///   - waits: limits and reports the wait for other handles.
  package init(path: String, mode: FileMode = .usual, waits: LockWaits = .process) throws(QueueError) {
    let file = try mode.ofWriters.open(path)
    self.waits = waits
    self.path = path
    self.file = file
  }

  deinit {
    Glibc.close(file)
  }

  /// Runs `body` while no other handle of the queue is in a call of this method.
  package func exclusively<Result>(_ body: () throws(QueueError) -> Result) throws(QueueError) -> Result {
    do throws(FileLock.Failure) {
      try FileLock.wait(file, exclusively: true, path: path, waits: waits)
    } catch {
      throw SystemFailure.error(error, at: path)
    }
    defer { flock(file, LOCK_UN) }
    return try body()
  }

  /// This worker's number; nil before ``enter()``.
  package var current: Int64? { number.withLock(\.self) }

  /// Returns this worker's number. The first call takes one.
  package func enter() throws(QueueError) -> Int64 {
    try number.withLock { number throws(QueueError) in
      if let number { return number }
      let taken = try exclusively(take)
      number = taken
      return taken
    }
  }

  /// Returns the state of the worker with this number.
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

  /// Returns the numbers of workers that run, in no particular order. The cost depends on how many
  /// run, not on how many ever existed.
  ///
  /// - Parameter limit: the maximum number of workers besides this one.
  package func present(upTo limit: Int) -> [Int64] {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return [] }
    var running: [Int64] = []
    // The kernel names one lock in a range. The ranges on both sides of it are asked next.
    var ranges = [1..<max(1, Int(status.st_size))]
    while let range = ranges.popLast(), running.count < limit {
      guard !range.isEmpty else { continue }
      let locked = linux_locked_byte(file, range.lowerBound, range.count)
      guard range.contains(locked) else { continue }
      running.append(Int64(locked))
      ranges += [range.lowerBound..<locked, locked + 1..<range.upperBound]
    }
    // The own lock does not show.
    return current.map { running + [$0] } ?? running
  }

  /// Records that this worker closed the queue. Needs no free disk space.
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

  /// The byte that readers and deliverers lock, shared or exclusively. It lies after the numbers of
  /// all workers.
  private static let deliveryByte = 1 << 60

  /// Takes a share in the undelivered results, until this handle is closed.
  ///
  /// - Returns: false when others hold a share that conflicts with this one.
  package func enterDelivery(_ share: DeliveryShare) throws(QueueError) -> Bool {
    while linux_share_byte(file, Self.deliveryByte, share.isExclusive ? 1 : 0) != 0 {
      if errno == EAGAIN || errno == EACCES { return false }
      guard errno == EINTR else { throw SystemFailure(errno, at: path).error }
    }
    return true
  }

  /// How many numbers may be in use in a file that was truncated.
  private static let maximumSkipped: Int64 = 10_000

  /// Takes the next number. It is the size of the file, which grows by one byte. Takes a later
  /// number if the file was truncated while workers run.
  private func take() throws(QueueError) -> Int64 {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw SystemFailure(errno, at: path).error }
    var worker = max(1, Int64(status.st_size))
    let last = worker + Self.maximumSkipped
    while linux_share_byte(file, Int(worker), 1) != 0 {
      guard errno != EAGAIN && errno != EACCES else {
        worker += 1
        guard worker < last else { throw .locked("\(path): another process has locked it; end that process, or try again later") }
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
}
