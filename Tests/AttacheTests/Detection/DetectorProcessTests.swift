import AttacheTesting
import Foundation
import Testing

@testable import Attache

/// A libmagic that crashes, hangs or gives wrong answers on unknown bytes (``Misbehaviour``). Where a
/// good file follows, the process is asked about that file too.
@Suite(.timeLimit(.minutes(1))) struct DetectorProcessTests {
  private static func bad(_ misbehaviour: Misbehaviour) -> [UInt8] { misbehaviour.mark + [UInt8](repeating: 0, count: 600) }

  @Test func `the process is confined, and opens no file and no socket and starts no process`() throws {
    let detector = try TypeDetector(asksAlways: true)
    #expect(detector.isConfined == nil)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    #expect(detector.isConfined == true, "this kernel has no seccomp")
    // It dies if one of them succeeds.
    #expect(detector.detect(Self.bad(.escape), isComplete: true).reason == .typeUnknown)
  }

  @Test(arguments: [(Misbehaviour.loop, DetectorFailure.late), (.wait, .late), (.otherAnswer, .confused), (.garbage, .confused)])
  func `what hangs or lies is ended, and the next file has its answer`(_ misbehaviour: Misbehaviour, _ failure: DetectorFailure) throws {
    let detector = try TypeDetector(asksAlways: true)
    for _ in 0..<2 {
      #expect(detector.detect(Self.bad(misbehaviour), isComplete: true) == .undecided(failure))
      #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    }
  }

  @Test func `what crashes says by which signal`() throws {
    let detector = try TypeDetector()
    guard case .undecided(.died(let signal)) = detector.detect(Self.bad(.crash), isComplete: true) else {
      Issue.record("it did not crash")
      return
    }
    #expect([SIGILL, SIGTRAP].contains(signal))
    #expect(DetectorFailure.died(signal: SIGSEGV).description.contains("Segmentation fault"))
  }

  @Test func `a process that goes between two files costs neither its answer`() throws {
    let detector = try TypeDetector(asksAlways: true)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    let child = try #require(detector.child)
    kill(child, SIGKILL)
    // Until the process is dead, it may still accept a question.
    var end = unsafe siginfo_t()
    #expect(unsafe waitid(P_PID, id_t(child), &end, WEXITED | WNOWAIT) == 0)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    #expect(detector.child != child)
  }

  @Test func `a process that goes before it takes the question costs the file no answer`() throws {
    let detector = try TypeDetector(asksAlways: true)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    let child = try #require(detector.child)
    var state = unsafe siginfo_t()
    kill(child, SIGSTOP)
    #expect(unsafe waitid(P_PID, id_t(child), &state, WSTOPPED | WNOWAIT) == 0)
    #expect(detector.ask(about: FileHead(bytes: Sample.png, isWhole: true)) == nil)
    kill(child, SIGKILL)
    #expect(unsafe waitid(P_PID, id_t(child), &state, WEXITED | WNOWAIT) == 0)
    #expect(detector.handle() == nil, "another process is asked")
    #expect(detector.child != child)
    var answer = pollfd(fd: try #require(detector.socket), events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&answer, 1, 10_000) == 1)
    #expect(detector.handle() == .accepted(.png))
  }

  @Test func `the process does not hear what is meant for its parent`() throws {
    let detector = try TypeDetector(asksAlways: true)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    let child = try #require(detector.child)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { kill(child, signal) }
    #expect(detector.detect(Sample.mp3, isComplete: true) == .accepted(.mp3))
    #expect(detector.child == child)
  }

  @Test func `a child that somebody else reaps does no harm`() throws {
    let detector = try TypeDetector(asksAlways: true)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
    let child = try #require(detector.child)
    kill(child, SIGKILL)
    let reaped = waitpid(child, nil, 0)
    #expect(reaped == child)
    #expect(detector.detect(Sample.png, isComplete: true) == .accepted(.png))
  }

  @Test func `a hundred crashes leave no process, no descriptor and no thread behind`() async {
    await #expect(processExitsWith: .success) {
      let detector = try TypeDetector()
      func crash() {
        for _ in 0..<100 {
          guard case .undecided(.died) = detector.detect(Self.bad(.crash), isComplete: true) else { exit(3) }
        }
      }
      crash()
      let before = ProcessCounts.now
      crash()
      let after = ProcessCounts.now
      guard after.descriptors == before.descriptors, after.children == 0, before.children == 0 else { exit(4) }
      // Swift's own pool starts threads as needed, at most one per core.
      guard after.threads <= before.threads + sysconf(Int32(_SC_NPROCESSORS_ONLN)) else { exit(5) }
    }
  }

  @Test func `a detector that is let go of takes its process with it`() throws {
    var detector: TypeDetector? = try TypeDetector(asksAlways: true)
    #expect(detector?.detect(Sample.png, isComplete: true) == .accepted(.png))
    let child = try #require(detector?.child)
    detector = nil
    #expect(kill(child, 0) == -1)
  }

  @Test(arguments: [Misbehaviour.crash, .loop, .wait, .garbage])
  func `a file that brings the detector down costs one line its attachment, and no other`(_ misbehaviour: Misbehaviour) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/bad", Self.bad(misbehaviour))
      stage.origin.serve("/png", Sample.png)
      stage.origin.serve("/mp3", Sample.mp3)
      let fetches = ["/png", "/bad", "/mp3"].map { stage.begin($0) }
      #expect(await fetches[0].end.file?.type == .png)
      let bad = await fetches[1].end
      #expect(bad.reason == .typeDetector)
      guard case .failure(let failure) = bad.result else { return }
      #expect(failure.message.contains("the type detector"))
      #expect(await fetches[2].end.file?.type == .mp3)
      #expect(stage.unfinished.isEmpty)
    }
  }
}

/// The system resources that the process holds.
private struct ProcessCounts {
  var descriptors: Int
  var threads: Int
  var children: Int

  static var now: ProcessCounts {
    func names(in folder: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
    let threads = names(in: "/proc/self/task")
    let children = threads.flatMap { thread in
      let list = try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)
      return (list ?? "").split(separator: " ")
    }
    return ProcessCounts(descriptors: names(in: "/proc/self/fd").count, threads: threads.count, children: children.count)
  }
}
