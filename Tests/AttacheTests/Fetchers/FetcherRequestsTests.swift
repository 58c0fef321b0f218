import Testing

@testable import Attache

/// Which requests fail when processes end.
@Suite struct FetcherRequestsTests {
  private static func requests(_ numbers: ClosedRange<UInt64>, joins: Bool = true) throws -> FetcherRequests {
    let gate = URLGate(URLPolicy())
    var requests = FetcherRequests()
    for number in numbers {
      let url = try gate.check("https://cdn.example/\(number)")
      requests.add(.init(url: url, place: Int(number), deadline: .distantFuture, waiters: [], prunes: 0), as: number, joins: joins)
    }
    return requests
  }

  /// The numbers of the failed requests.
  private static func ends(_ requests: inout FetcherRequests, _ suspects: UInt64?...) -> [[Int]] {
    suspects.map { requests.noteEnd(suspect: $0).map(\.place).sorted() }
  }

  @Test func `the second end that names a request gives it up alone`() throws {
    var requests = try Self.requests(1...3)
    #expect(Self.ends(&requests, 2, 1, nil, 2) == [[], [], [], [2]])
    #expect(requests.inOrder.map(\.number) == [1, 3] && requests.number(for: "https://cdn.example/2") == nil)
    #expect(Self.ends(&requests, 3, 1) == [[], [1]])
  }

  @Test func `a suspect that is not asked any more is nobody`() throws {
    var requests = try Self.requests(1...2)
    requests.remove(1)
    #expect(Self.ends(&requests, 1, 1, 7) == [[], [], []])
    #expect(requests.count == 1)
  }

  @Test func `what is in flight at sixty-four ends is given up, what comes later is not`() throws {
    var requests = try Self.requests(1...2)
    for _ in 1..<FetcherRequests.maximumEnds { #expect(requests.noteEnd(suspect: nil).isEmpty) }
    let late = try Self.requests(3...3).inOrder[0].request
    requests.add(late, as: 3, joins: true)
    #expect(Self.ends(&requests, nil) == [[1, 2]])
    #expect(requests.inOrder.map(\.number) == [3])
  }

  @Test func `a request that is asked again under another number keeps its deaths`() throws {
    var requests = try Self.requests(1...1)
    #expect(Self.ends(&requests, 1) == [[]])
    let request = try #require(requests[1])
    requests.remove(1)
    requests.add(request, as: 5, joins: true)
    #expect(Self.ends(&requests, 5) == [[1]])
  }

  @Test func `the latest request for a URL is the one that others join`() throws {
    var requests = try Self.requests(1...1)
    let same = try #require(requests[1])
    requests.add(same, as: 9, joins: true)
    #expect(requests.number(for: "https://cdn.example/1") == 9)
    requests.remove(1)
    #expect(requests.number(for: "https://cdn.example/1") == 9)
    var refused = same
    refused.refusal = FetchFailure(reason: .policyBreaker)
    requests.add(refused, as: 10, joins: true)
    #expect(requests.number(for: "https://cdn.example/1") == 9, "nobody joins a request that is not sent")
    requests.remove(10)
    #expect(requests.number(for: "https://cdn.example/1") == 9)
    let alone = try Self.requests(1...1, joins: false)
    #expect(alone.number(for: "https://cdn.example/1") == nil)
  }

  @Test func `eight processes in a row that never became ready are too many`() {
    var state = FetcherLinkState()
    #expect((1...8).map { _ in state.noteFailedStart() } == [false, false, false, false, false, false, false, true])
    #expect((1...7).allSatisfy { _ in !state.noteFailedStart() })
  }
}
