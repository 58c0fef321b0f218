import Foundation
import Glibc

/// The processes that a program has started, from /proc.
extension Program {
  /// All processes that it or its descendants have started and that are still listed, parents
  /// first, and children of one parent from the oldest to the newest.
  var descendants: [pid_t] { Self.descendants(of: process) }

  /// Its descendants with this name, as `ps -o comm` shows it.
  func processes(named name: String) -> [pid_t] {
    descendants.filter { (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8)) == name + "\n" }
  }

  /// Its fetcher processes.
  var fetchers: [pid_t] { processes(named: "fetcher") }

  /// The time of the processors that its threads of this name have used, in hundredths of a second.
  func ticks(ofThreads name: String) throws -> Int {
    let tasks = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, thread in
      let stat = try String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
      guard stat.contains("(\(name))"), let fields = stat.split(separator: ")").last?.split(separator: " ") else { return sum }
      return sum + fields[11...12].compactMap { Int($0) }.reduce(0, +)
    }
  }

  /// Returns when a process has ended.
  static func isGone(_ process: pid_t) async {
    while !Task.isCancelled {
      let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      // A zombie no longer counts as a process.
      guard let letter = state?.split(separator: ")").last?.split(separator: " ").first, letter != "Z", letter != "X" else { return }
      await Task.yield()
    }
  }

  /// Returns when a process has no file below a folder open. The time limit of a test ends the
  /// wait, and fails the test.
  static func closesFiles(_ process: pid_t, below folder: String) async {
    let descriptors = "/proc/\(process)/fd"
    while !Task.isCancelled {
      let open = ((try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")
      }
      guard open.contains(where: { $0.hasPrefix(folder) }) else { return }
      await Task.yield()
    }
  }

  private static func descendants(of process: pid_t) -> [pid_t] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    let children = threads.flatMap { thread in
      ((try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? "")
        .split(separator: " ").compactMap { pid_t($0) }
    }
    return children + children.flatMap { descendants(of: $0) }
  }
}
