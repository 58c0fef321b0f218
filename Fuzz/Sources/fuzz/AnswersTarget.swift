@testable import Attache
@testable import AttacheQueue
@testable import AttacheSenders

/// What a sender answers: a command's lines, and the body and the fields of a push server's answer.
///
/// - A command's line is an answer only when it is `ok`, `retry`, `retry` with a duration, or
///   `drop` with any text.
/// - An answer that names its result is JSON in UTF-8.
/// - A pause is neither negative nor longer than what is documented, and what is quoted in a
///   message steers no terminal.
struct AnswersTarget: Target {
  private static let longestWait = Duration.seconds(3_200_000_000)
  private let reader = DeliveryReader()
  private let replies = APNsReplyReader()

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    switch input.number(below: 3) {
    case 0: judgeLine(Array(input.rest))
    case 1: judgeObject(Array(input.rest))
    default: judgeReply(&input)
    }
  }

  // MARK: A command

  private func judgeLine(_ line: [UInt8]) {
    judgeText(SenderAnswer.excerpt(line), "the excerpt of \(quoted(line))")
    let text = line.last == UInt8(ascii: "\r") ? Array(line.dropLast()) : line
    let answer = SenderAnswer.read(line)
    if text == Array("ok".utf8) { return check(answer == .delivered(), "ok is an answer") }
    if text == Array("retry".utf8) { return check(answer == .retry(after: nil, reason: "retry"), "retry is an answer") }
    switch answer {
    case nil: check(!text.starts(with: "drop ".utf8), "drop is an answer: \(quoted(line))")
    case .retry(let wait?, _):
      check(text.starts(with: "retry ".utf8), "a retry is called so: \(quoted(line))")
      check(.zero...Self.longestWait ~= wait, "a pause has its bounds: \(wait)")
    case .dropped:
      check(text == Array("drop".utf8) || text.starts(with: "drop ".utf8), "a drop is called so: \(quoted(line))")
    default: check(false, "\(quoted(line)) is no answer")
    }
  }

  private func judgeObject(_ line: [UInt8]) {
    guard SenderAnswer.readObject(line, reader) != nil else { return }
    check(JSONReference(line) != nil, "an answer that names its result is JSON: \(quoted(line))")
  }

  // MARK: A push server

  private func judgeReply(_ input: inout InputBytes) {
    let status = Int(input.number(UInt16.self))
    let retryAfter = Array(input.bytes(input.number(below: 33)))
    let body = Array(input.rest)
    let reply = replies.read(status: status, body: body, retryAfter: retryAfter)
    check(reply.retryAfter.map { (.zero...Duration.seconds(86_400)).contains($0) } ?? true, "a pause is a day at most: \(reply)")
    check(reply.reason.map { 1...64 ~= $0.utf8.count && $0.utf8.allSatisfy(Self.isWord) } ?? true, "a reason is one word: \(reply)")
    check(reply.timestamp.map { $0 >= 0 } ?? true, "a moment is no negative number: \(reply)")
    let verdict = APNsVerdict.of(reply)
    judgeText(verdict.text(of: reply), "the text of \(reply)")
    check(status == 200 || verdict.consequence != .delivered, "200 alone is delivered: \(reply)")
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private func judgeText(_ text: String, _ name: @autoclosure () -> String) {
    check(
      text.utf8.count < 2_000 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) },
      "\(name()) is one line: \(text)")
  }
}
