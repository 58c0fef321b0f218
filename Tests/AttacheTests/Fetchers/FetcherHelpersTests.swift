import Glibc
import Testing

@testable import Attache

/// What the parent of the fetchers does for one that was taken over: little, and at a limited rate.
@Suite struct FetcherHelpersTests {
  /// A fetcher's end of the socket, and its helpers.
  private final class Fetcher {
    let socket: Int32
    var helpers: FetcherHelpers
    var started: [pid_t] = []
    /// Keep the children waiting: one whose socket is closed leaves by itself.
    private var sockets: [Int32] = []
    private let database: MagicCookie

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
      socket = ends[0]
      helpers = FetcherHelpers(ends[1])
      database = try TypeDetector.loadDatabase()
    }

    deinit {
      helpers.close()
      for child in started { waitpid(child, nil, 0) }
      for socket in sockets + [socket] { close(socket) }
    }

    func send(_ bytes: [UInt32]) {
      _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, 0) }
    }

    /// Has the parent take one request.
    func carryOut(at now: MonotonicInstant = .now) -> Bool {
      helpers.carryOut(at: now) { _ throws(SystemError) in
        let (end, child) = try DetectorProcess.start(database)
        started.append(child)
        sockets.append(dup(end))
        return (end, child)
      }
    }

    func notesEnd(of child: pid_t) -> Bool { helpers.hasEnded(child, signal: SIGKILL) }

    /// The next answer: its serial, and its value.
    func answer() -> [Int32] {
      var answer: [Int32] = [0, 0]
      let count = unsafe answer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
      return count == 8 ? answer : []
    }
  }

  @Test func `a fetcher has one detector at the most`() throws {
    let fetcher = try Fetcher()
    for serial in 1...3 as ClosedRange<UInt32> {
      fetcher.send([serial, 1, 0])
      #expect(fetcher.carryOut())
      #expect(fetcher.answer() == [Int32(serial), try #require(fetcher.started.last)])
    }
    #expect(fetcher.helpers.children == [fetcher.started[2]])
    for child in fetcher.started.dropLast() {
      var status: Int32 = 0
      #expect(unsafe waitpid(child, &status, 0) == child && status & 0x7f == SIGKILL)
    }
    fetcher.started.removeFirst(2)
  }

  @Test func `a fetcher has two converters at the most, and the end of one does not cost it the other`() throws {
    let fetcher = try Fetcher()
    for serial in 1...2 as ClosedRange<UInt32> {
      fetcher.send([serial, 2, 0])
      #expect(fetcher.carryOut())
    }
    let (first, second) = (fetcher.started[0], fetcher.started[1])
    #expect(fetcher.helpers.children == [first, second])
    // The parent has not learned of the first one's end when the next one is asked for.
    for request in [[3, 3, UInt32(first)], [4, 2, 0]] as [[UInt32]] {
      fetcher.send(request)
      #expect(fetcher.carryOut())
    }
    let third = fetcher.started[2]
    #expect(Set(fetcher.helpers.children) == [first, second, third])
    #expect(fetcher.notesEnd(of: first))
    #expect(fetcher.helpers.children == [second, third])
    fetcher.send([5, 2, 0])
    #expect(fetcher.carryOut())
    #expect(fetcher.helpers.children == [third, fetcher.started[3]])
    var status: Int32 = 0
    #expect(unsafe waitpid(second, &status, 0) == second && status & 0x7f == SIGKILL)
    fetcher.started.remove(at: 1)
  }

  @Test func `the end of a child is answered with its signal, and that of a stranger is not caused`() throws {
    let fetcher = try Fetcher()
    fetcher.send([1, 1, 0])
    #expect(fetcher.carryOut())
    let child = try #require(fetcher.answer().last)
    fetcher.send([2, 3, UInt32(getpid())])
    #expect(fetcher.carryOut())
    #expect(fetcher.answer() == [2, 0])
    fetcher.send([3, 3, UInt32(child)])
    #expect(fetcher.carryOut())
    #expect(fetcher.answer().isEmpty)
    #expect(fetcher.notesEnd(of: child))
    #expect(fetcher.answer() == [3, SIGKILL])
    #expect(!fetcher.notesEnd(of: child))
  }

  @Test(arguments: [[1, 0, 0], [1, 4, 0], [1, .max, 0], [1], [1, 1], [1, 1, 0, 0], [UInt32](repeating: 1, count: 64)])
  func `what is no request ends the fetcher`(words: [UInt32]) throws {
    let fetcher = try Fetcher()
    fetcher.send(words)
    #expect(!fetcher.carryOut())
    #expect(fetcher.started.isEmpty)
  }

  @Test func `a fetcher that has closed its end has ended`() throws {
    let fetcher = try Fetcher()
    #expect(fetcher.carryOut(), "there is no request yet")
    shutdown(fetcher.socket, Int32(SHUT_RDWR))
    #expect(!fetcher.carryOut())
  }

  @Test func `requests come at a limited rate`() {
    var pace = RequestPace()
    let start = MonotonicInstant.now
    for _ in 0..<RequestPace.burst {
      #expect(pace.pause(at: start) == .zero)
      pace.note(at: start)
    }
    #expect(pace.pause(at: start) == RequestPace.interval)
    let next = start.advanced(by: RequestPace.interval)
    #expect(pace.pause(at: next) == .zero)
    pace.note(at: next)
    #expect(pace.pause(at: next) == RequestPace.interval)
    #expect(pace.pause(at: start.advanced(by: .seconds(1))) == .zero)
  }
}
