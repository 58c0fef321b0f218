import Foundation
import Glibc
import Testing

@testable import Attache

@Suite struct MonotonicInstantTests {
  @Test func `an instant is of the clock that stands still while the machine is suspended`() {
    func read() -> Int64 {
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    let (before, now, after) = (read(), MonotonicInstant.now.nanoseconds, read())
    #expect(before <= now && now <= after)
  }

  @Test func `no sum of times overflows`() {
    #expect((Duration.seconds(9_223_372_036) + .milliseconds(900)).nanoseconds == .max)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max && Duration.seconds(Int64.min).nanoseconds == .min)
    #expect(MonotonicInstant.now.advanced(by: .seconds(Int64.max)) == .distantFuture)
    #expect(MonotonicInstant.distantPast.duration(to: .distantFuture) == .nanoseconds(Int64.max))
    #expect(MonotonicInstant.distantFuture.duration(to: .distantPast) == .nanoseconds(Int64.min))
  }

  /// The wall clock can be set. Only the ages of the store's files and signatures need it.
  @Test func `no code of the engine reads the wall clock but the store and the uploader`() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/Attache").standardized
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
    #expect(files.count > 50)
    let words = ["CLOCK_REALTIME", "gettimeofday", "time(nil", "ContinuousClock", "SuspendingClock", "DispatchWallTime"]
    let readers = try files.filter { file in
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      return try words.contains { text.contains($0) } || text.contains(Regex(#"(^|[^A-Za-z])Date\("#))
    }
    #expect(readers.sorted() == ["Store/AttachmentStore.swift", "Upload/UploadServer.swift"])
  }
}
