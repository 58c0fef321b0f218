import Attache
@testable import AttacheTesting
import Testing

struct DNSMessageTests {
  /// A query as a resolver sends it: example.com, type A.
  private static let query: [UInt8] = [
    0xAB, 0xCD, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0, 7, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 3, 0x63, 0x6F, 0x6D, 0, 0, 1, 0, 1,
  ]

  @Test func `a query is read`() throws {
    let message = try DNSMessage(Self.query)
    #expect(message == DNSMessage(identifier: 0xABCD, questions: [.init(name: "example.com", type: .a)]))
    #expect(message.bytes == Self.query)
  }

  @Test func `a message is read as it was written`() throws {
    let message = DNSMessage(
      identifier: 1, isResponse: true, isTruncated: true, responseCode: .refused, questions: [.init(name: "a.example", type: .aaaa)],
      answers: [
        .init(name: "a.example", ttl: 5, data: .alias("b.example")),
        .init(name: "b.example", ttl: .max, data: .address(.v6(.max - 1))),
        .init(name: "b.example", ttl: 0, data: .address(.v4(0x7F00_0001))),
        .init(name: "", ttl: 0, data: .other(.init(rawValue: 16), [3, 0x61, 0x62, 0x63])),
      ])
    #expect(try DNSMessage(message.bytes) == message)
  }

  @Test func `4,000 addresses fit into one message`() throws {
    let records = (0..<4000).map { DNSMessage.Record(name: "many.example", ttl: 1, data: .address(.v4($0))) }
    let bytes = DNSMessage(identifier: 1, questions: [.init(name: "many.example", type: .a)], answers: records).bytes
    #expect(bytes.count < 65536)
    #expect(try DNSMessage(bytes).answers.count == 4000)
  }

  @Test func `a message that was cut is refused at every length`() {
    let answer = DNSMessage(
      identifier: 1, isResponse: true, questions: [.init(name: "a.example", type: .a)],
      answers: [.init(name: "a.example", ttl: 5, data: .address(.v4(1)))]
    ).bytes
    for length in 0..<answer.count {
      #expect(throws: DNSMessage.FormatError.self) { try DNSMessage(Array(answer.prefix(length))) }
    }
  }

  @Test(arguments: [[0xC0, 12], [0xC0, 0xFF], [0x40, 0], [1, 0x61, 0xC0, 12]] as [[UInt8]])
  func `a name that leads forwards or for ever is refused`(_ name: [UInt8]) {
    let bytes = Self.query.prefix(12) + name + [0, 1, 0, 1]
    #expect(throws: DNSMessage.FormatError.self) { try DNSMessage(Array(bytes)) }
  }
}

struct StubDNSAnswerTests {
  private let query = DNSMessage(identifier: 7, questions: [.init(name: "a.example", type: .a)])

  private func response(_ answer: StubDNS.Answer, earlier: Int = 0, overTCP: Bool = false) throws -> DNSMessage? {
    guard case .send(let bytes) = answer.reply(to: query, earlier: earlier, overTCP: overTCP) else { return nil }
    return try DNSMessage(bytes)
  }

  @Test func `only the addresses of the family asked for are given`() throws {
    let response = try response(.addresses([.v4(1), .v6(2)], ttl: 9))
    #expect(response?.answers == [.init(name: "a.example", ttl: 9, data: .address(.v4(1)))])
    #expect(response?.identifier == 7)
  }

  @Test func `a chain of aliases ends in the addresses`() throws {
    #expect(
      try response(.aliases(["b.example"], [.v4(1)], ttl: 9))?.answers == [
        .init(name: "a.example", ttl: 9, data: .alias("b.example")), .init(name: "b.example", ttl: 9, data: .address(.v4(1))),
      ])
  }

  @Test func `a truncated answer is whole over TCP`() throws {
    let answer = StubDNS.Answer.truncated(.addresses([.v4(1)]))
    #expect(try response(answer)?.isTruncated == true)
    #expect(try response(answer)?.answers == [])
    #expect(try response(answer, overTCP: true)?.answers.count == 1)
  }

  @Test func `an answer above 512 bytes is truncated over UDP`() throws {
    let answer = StubDNS.Answer.addresses((0..<40).map { .v4($0) })
    #expect(try response(answer)?.isTruncated == true)
    #expect(try response(answer, overTCP: true)?.answers.count == 40)
  }

  @Test func `a sequence goes on and stays at its last`() throws {
    let answer = StubDNS.Answer.sequence([.noSuchName, .serverFailure])
    let codes = try [0, 1, 2].map { try response(answer, earlier: $0)?.responseCode }
    #expect(codes == [.noSuchName, .serverFailure, .serverFailure])
  }

  @Test func `silence and delay send nothing at once`() {
    #expect(StubDNS.Answer.silence.reply(to: query, earlier: 0, overTCP: false) == .hold)
    let delayed = StubDNS.Answer.delayed(.seconds(1), .silence).reply(to: query, earlier: 0, overTCP: false)
    #expect(delayed == .later(.seconds(1), .hold))
  }

  @Test func `wrong answers are wrong in one thing`() throws {
    #expect(try response(.wrongIdentifier(.noData))?.identifier == 7 ^ 0xFFFF)
    let other = try response(.wrongQuestion(.noData))
    #expect(other?.identifier == 7)
    #expect(other?.questions != query.questions)
  }
}
