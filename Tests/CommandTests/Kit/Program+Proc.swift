import Foundation
import Glibc

/// The state of a program, from /proc.
extension Program {
  /// Returns when no signal is pending, and the thread that receives them has done what they ask for.
  func signalsAreTaken() async {
    await look { program in
      guard program.status("ShdPnd").map({ UInt64($0, radix: 16) == 0 }) ?? true else { return false }
      let threads = "/proc/\(program.process)/task"
      for thread in (try? FileManager.default.contentsOfDirectory(atPath: threads)) ?? []
      where (try? String(contentsOfFile: "\(threads)/\(thread)/comm", encoding: .utf8)) == "signals\n" {
        let call = try? String(contentsOfFile: "\(threads)/\(thread)/syscall", encoding: .utf8)
        return call.map { $0.hasPrefix("\(Self.signalWait) ") } ?? true
      }
      return true
    }
  }

  /// Returns when the program has its own handler for a signal.
  func handles(_ signal: Int32) async {
    await look { $0.status("SigCgt").flatMap { UInt64($0, radix: 16) }.map { $0 & 1 << (signal - 1) != 0 } ?? true }
  }

  /// Returns when the first thread, which reads the input, waits for the writer's thread to end. It
  /// reads no more then.
  func readerHasEnded() async {
    await look { program in
      let call = try? String(contentsOfFile: "/proc/\(program.process)/task/\(program.process)/syscall", encoding: .utf8)
      guard let words = call?.split(separator: " "), words.count > 2 else { return call == nil }
      return words[0] == Self.futex && words[2] == Self.waitForThread
    }
  }

  /// Returns when a writing thread waits, for example for a full pipe, or when the program has
  /// ended.
  func outputIsBlocked() async {
    await look { program in
      guard let tasks = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.process)/task") else { return true }
      return tasks.contains { task in
        let call = try? String(contentsOfFile: "/proc/\(program.process)/task/\(task)/syscall", encoding: .utf8)
        return call?.hasPrefix(Self.writev + " ") == true
      }
    }
  }

  /// The number of the system call by which a thread waits for a signal.
  #if arch(x86_64)
    private static let signalWait = "128"
  #else
    private static let signalWait = "137"
  #endif
  /// The number of the system call by which the filter writes.
  #if arch(x86_64)
    private static let writev = "20"
  #else
    private static let writev = "66"
  #endif
  /// The number of the system call by which a thread waits for another.
  #if arch(x86_64)
    private static let futex = "202"
  #else
    private static let futex = "98"
  #endif
  /// FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, not private to the process: the kernel itself wakes
  /// a thread in pthread_join(3).
  private static let waitForThread = "0x109"

  /// The peak memory in bytes.
  var peakMemory: Int? {
    status("VmHWM")?.split(separator: " ").first.flatMap { Int($0) }.map { $0 * 1024 }
  }

  /// The number of threads.
  var threadCount: Int? {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task"))?.count
  }

  /// Sets a limit of the program while it runs, by a flag of prlimit(1).
  func limit(_ flag: String) throws {
    let process = try Process.run(URL(filePath: "/usr/bin/prlimit"), arguments: ["--pid", "\(self.process)", flag])
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
  }

  /// The size of the program's address space, in bytes.
  var addressSpace: Int {
    status("VmSize").flatMap { $0.split(separator: " ").first }.flatMap { Int($0) }.map { $0 << 10 } ?? 0
  }

  private func status(_ name: String) -> String? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.map { String($0.dropFirst(name.count + 1)).trimmingCharacters(in: .whitespaces) }
  }

  /// Polls, since a test cannot wait for events of another process.
  private func look(until isSo: (Program) -> Bool) async {
    while !isSo(self), !Task.isCancelled { await Task.yield() }
  }
}
