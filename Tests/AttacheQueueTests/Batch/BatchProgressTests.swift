@testable import AttacheQueue
import Testing

@Suite struct BatchProgressTests {
  private func progress(_ change: (inout BatchProgress) -> Void) -> BatchProgress {
    var progress = BatchProgress()
    progress.enqueued = 1_000
    progress.lines = 1_000
    progress.before = 100
    progress.counts.finished = 400
    progress.counts.attached = 300
    progress.counts.fallback = 7
    progress.elapsed = .seconds(4)
    change(&progress)
    return progress
  }

  @Test func `the bar shows what is done, at which rate, and how long the rest takes`() {
    #expect(progress { _ in }.text(width: 10) == "[#####.....] 50 %, 100/s, 300 attached, 7 fallback, 0:05 left")
  }

  @Test func `payloads that are tried again are named`() {
    #expect(progress { $0.counts.postponed = 3 }.text(width: 4) == "[##..] 50 %, 100/s, 300 attached, 7 fallback, 3 to retry, 0:05 left")
  }

  @Test func `while the file is being read there is no bar`() {
    #expect(progress { $0.lines = nil }.text(width: 10) == "500 of 1000 so far, 100/s, 300 attached, 7 fallback")
  }

  @Test func `at the start the time left is not known, and an empty file is done`() {
    let begun = progress { progress in
      progress.elapsed = .zero
      progress.counts = .init()
    }
    #expect(begun.text(width: 10) == "[#.........] 10 %, 0/s, 0 attached, 0 fallback")
    #expect(BatchProgress().left == nil)
    var empty = BatchProgress()
    empty.lines = 0
    #expect(empty.text(width: 2) == "[##] 100 %, 0/s, 0 attached, 0 fallback")
  }

  @Test func `hours are shown where there are any`() {
    #expect(progress { $0.elapsed = .seconds(40_000) }.text(width: 10).hasSuffix(", 13:53:20 left"))
  }
}
