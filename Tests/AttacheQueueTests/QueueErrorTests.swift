@testable import AttacheQueue
import Foundation
import Attache
import GRDB
import Glibc
import Testing

/// How errors of the system and of SQLite map to the errors that workers and commands handle.
@Suite struct QueueErrorTests {
  private let path = FileManager.default.temporaryDirectory.path + "/attache-queue-error"

  @Test func `a failing disk is the machine's, and the error of one file is not`() {
    for number in [ENOSPC, EDQUOT, EFBIG, EROFS, EIO, EMFILE, ENFILE] {
      #expect(MachineFault(SystemFailure(number, at: "/queue").error) != nil, "\(number)")
    }
    for number in [ENOENT, EACCES, EISDIR, ELOOP] {
      #expect(MachineFault(SystemFailure(number, at: "/queue").error) == nil, "\(number)")
    }
  }

  @Test func `at opening a read-only disk makes the queue unavailable, and a broken one fails`() {
    func opened(_ number: Int32) -> QueueError? {
      do throws(QueueError) {
        try QueueError.opening { () throws(QueueError) in throw SystemFailure(number, at: "/queue").error }
        return nil
      } catch {
        return error
      }
    }
    #expect(
      opened(EROFS) == .unavailable("/queue: Read-only file system; a queue needs a folder and files that its workers can write"))
    #expect(opened(EIO) == .failed("/queue: Input/output error"))
    #expect(opened(ENOSPC) == .full("/queue: no space is left; free space"))
  }

  @Test func `an unknown outcome ends a worker, and its text says what is unknown`() {
    let error = QueueError.unknown("db1:\nno answer for 5 m")
    #expect(MachineFault(error) == nil)
    #expect(
      "\(error)" == "db1:\\u{A}no answer for 5 m; whether the last change reached the queue is unknown")
    #expect(throws: error) { try QueueError.opening { () throws(QueueError) in throw error } }
  }

  @Test(arguments: [
    (ResultCode.SQLITE_IOERR_WRITE, true), (.SQLITE_IOERR_FSYNC, true), (.SQLITE_IOERR_READ, true), (.SQLITE_FULL, true),
    (.SQLITE_IOERR_SHORT_READ, false), (.SQLITE_READONLY, false), (.SQLITE_CORRUPT, false),
  ])
  func `SQLite's errors of the disk pause a worker`(_ code: ResultCode, _ pauses: Bool) throws {
    let file = try QueueFile(path, creates: true, waits: LockWaits(limit: .seconds(1)))
    #expect((MachineFault(file.failure(DatabaseError(resultCode: code))) != nil) == pauses)
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting needs root's capability"))
  func `a disk that became read-only pauses a worker, and a file that was moved away ends it`() throws {
    let disk = try #require(QueueTestDisk())
    #expect(FileManager.default.createFile(atPath: disk.path + "/queue", contents: nil))
    let file = try QueueFile(disk.path + "/queue", creates: true, waits: LockWaits(limit: .seconds(1)))
    #expect(disk.turnReadOnly())
    guard case .disk(_, isReadOnly: true) = file.failure(DatabaseError(resultCode: .SQLITE_READONLY)) else {
      Issue.record("read-only")
      return
    }
    #expect(MachineFault(file.failure(DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED))) == nil)
  }
}
