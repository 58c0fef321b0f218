@testable import Attache
import Foundation
import Glibc
import Synchronization
import Testing

/// A file that a test locks with several open file descriptions, and the waits for it on a clock
/// that only pauses advance.
private final class LockedFile: Sendable {
  let path: String
  let holder: Int32
  let waiter: Int32
  private let elapsed = Mutex(Duration.zero)
  private let sentences = Mutex<[String]>([])
  /// Called at each pause, with the time since the start.
  private let onPause: @Sendable (LockedFile, Duration) -> Void

  init(onPause: @escaping @Sendable (LockedFile, Duration) -> Void = { _, _ in }) {
    path = FileManager.default.temporaryDirectory.path + "/attache-lock-\(UUID().uuidString)"
    holder = unsafe open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
    waiter = unsafe open(path, O_RDONLY | O_CLOEXEC)
    self.onPause = onPause
    flock(holder, LOCK_EX)
  }

  deinit {
    close(holder)
    close(waiter)
    unsafe unlink(path)
  }

  var reports: [String] { sentences.withLock { $0 } }

  func waits(limit: Duration = LockWaits.usualLimit) -> LockWaits {
    let start = MonotonicInstant.now
    let waits = LockWaits(
      limit: limit, clock: { [self] in start.advanced(by: elapsed.withLock { $0 }) },
      sleep: { [self] span in
        let now = elapsed.withLock { elapsed in
          elapsed += span
          return elapsed
        }
        onPause(self, now)
      })
    waits.report { [self] sentence in sentences.withLock { $0.append(sentence) } }
    return waits
  }

  /// - Returns: why the wait failed; nil when the lock was acquired.
  func wait(_ waits: LockWaits) -> String? {
    do throws(FileLock.Failure) {
      try FileLock.wait(waiter, exclusively: true, path: path, waits: waits)
      return nil
    } catch {
      guard case .held(let sentence) = error else { return "\(error)" }
      return sentence
    }
  }
}

@Suite struct LockWaitTests {
  @Test func `a lock that is released in time is acquired, and nothing is reported`() {
    let file = LockedFile { file, now in if now > .seconds(1) { flock(file.holder, LOCK_UN) } }
    let waits = file.waits()
    #expect(file.wait(waits) == nil)
    #expect(file.reports.isEmpty)
    #expect(waits.current == nil)
  }

  @Test func `a wait is reported once after two seconds, and shows until it ends`() {
    let seen = Mutex<[String?]>([])
    let shared = Mutex<LockWaits?>(nil)
    let file = LockedFile { file, now in
      seen.withLock { $0.append(shared.withLock { $0?.current }) }
      if now > .seconds(3) { flock(file.holder, LOCK_UN) }
    }
    let waits = file.waits()
    shared.withLock { $0 = waits }
    #expect(file.wait(waits) == nil)
    #expect(file.reports == ["waiting for the lock of \(file.path), which another process holds"])
    #expect(seen.withLock { $0.first } == .some(nil))
    #expect(seen.withLock { $0.last } == file.reports.first)
    #expect(waits.current == nil)
  }

  @Test func `a wait ends at its limit with what to do`() {
    let file = LockedFile()
    #expect(file.wait(file.waits()) == "another process has held the lock of \(file.path) for 60 s; end it, or try again later")
  }

  @Test func `a reported wait ends when the process stops, and a later one lasts a tenth of a second`() {
    let shared = Mutex<LockWaits?>(nil)
    let last = Mutex(Duration.zero)
    let file = LockedFile { _, now in
      last.withLock { $0 = now }
      if now > .seconds(5) { shared.withLock { $0?.stop() } }
    }
    let waits = file.waits()
    shared.withLock { $0 = waits }
    #expect(file.wait(waits) == "told to stop while waiting for the lock of \(file.path), which another process holds")
    let first = last.withLock { $0 }
    #expect(first > .seconds(5) && first < .seconds(5.1))
    #expect(file.wait(waits) != nil)
    let second = last.withLock { $0 } - first
    #expect(second >= .seconds(0.1) && second < .seconds(0.2))
  }

  /// Commands that hold a lock of the file that follows, by flock(2) and by F_OFD_SETLK, until their input ends.
  private static let holders = [
    (["flock"], ["sh", "-c", "echo locked; cat"]),
    (
      [
        "python3", "-c",
        """
        import fcntl, struct, sys
        file = open(sys.argv[1], "r+")
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        print("locked", flush=True)
        sys.stdin.read()
        """,
      ], []
    ),
  ]

  @Test(arguments: holders) func `the holder is found with its command and its user`(before: [String], after: [String]) throws {
    let file = LockedFile()
    flock(file.holder, LOCK_UN)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = before + [file.path] + after
    let (input, output) = (Foundation.Pipe(), Foundation.Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    _ = try output.fileHandleForReading.read(upToCount: 7)
    let user = try #require(unsafe getpwuid(geteuid()).map { unsafe String(cString: $0.pointee.pw_name) })
    #expect(LockHolder.description(ofLockOn: file.waiter) == "process \(process.processIdentifier) (\(before[0]), user \(user))")
    #expect(LockHolder.description(ofLockOnAnyOf: ["/nowhere", file.path]) == LockHolder.description(ofLockOn: file.waiter))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(LockHolder.description(ofLockOn: file.waiter) == nil)
  }
}
