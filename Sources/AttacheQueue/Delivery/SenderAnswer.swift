internal import Attache
internal import FoundationEssentials

/// Parses a command's answers: `ok`, `retry`, `retry 30s`, or `drop REASON`.
enum SenderAnswer {
  /// The maximum length of a sender's line, in bytes.
  static let maximumLength = 4_096

  /// Parses an answer.
  ///
  /// - Parameter line: without its line feed.
  /// - Returns: nil when the line is no answer.
  static func read(_ line: some Collection<UInt8>) -> DeliveryAnswer? {
    var line = line[...]
    if line.count > 0, line[line.index(line.startIndex, offsetBy: line.count - 1)] == UInt8(ascii: "\r") { line = line.dropLast() }
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    let rest = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : nil
    guard let word = words.first else { return nil }
    if word.elementsEqual("ok".utf8) { return rest == nil ? .delivered() : nil }
    if word.elementsEqual("retry".utf8) {
      guard let rest else { return .retry(after: nil, reason: "retry") }
      return WrittenDuration.duration(rest).map { .retry(after: $0, reason: "retry \(rest)") }
    }
    if word.elementsEqual("drop".utf8) { return .dropped(reason: rest ?? "") }
    return nil
  }

  private static let idPlace = JSONPointer("id")
  private static let answerPlace = JSONPointer("answer")

  /// Parses an answer that names its result: `{"id":17,"answer":"retry 30s"}`. Other members are
  /// ignored.
  static func readObject(_ line: [UInt8], _ reader: DeliveryReader) -> (id: Int64, answer: DeliveryAnswer)? {
    guard let id = reader.value(at: idPlace, of: line), id.first == DeliveryReader.valueMark,
      let number = Int64(String(decoding: id.dropFirst(), as: UTF8.self)),
      let text = reader.value(at: answerPlace, of: line), let answer = read(text)
    else { return nil }
    return (number, answer)
  }

  /// Returns a line in a printable form for a message.
  static func excerpt(_ line: some Collection<UInt8>) -> String {
    PrintableText.of(String(decoding: line.prefix(maximumLength), as: UTF8.self))
  }
}

/// The text of a result for a command.
package enum DeliveryText {
  /// Returns a result as one line; nil when it contains a line feed.
  static func line(_ delivery: Delivery) -> [UInt8]? {
    let text = body(delivery)
    return text.contains(UInt8(ascii: "\n")) ? nil : text + [UInt8(ascii: "\n")]
  }

  /// Returns a result as one JSON object in a line: its number, the number of the attempt, and the
  /// payload. A payload that is not JSON, or is too long to be checked, is encoded as `base64`.
  /// Otherwise it could close the object and forge another one.
  static func envelope(_ delivery: Delivery, _ json: JSONCheck) -> [UInt8] {
    let text = body(delivery)
    let start = "{\"id\":\(delivery.token.id),\"attempt\":\(delivery.attempt),"
    let isJSON = !text.contains(UInt8(ascii: "\n")) && json.isJSON(text)
    let payload = isJSON ? Array("\"payload\":".utf8) + text : Array("\"base64\":\"\(Data(text).base64EncodedString())\"".utf8)
    return Array(start.utf8) + payload + Array("}\n".utf8)
  }

  /// Returns a result without its line ending.
  package static func body(_ delivery: Delivery) -> [UInt8] {
    var text = delivery.line[...]
    if text.last == UInt8(ascii: "\n") { text.removeLast() }
    if text.last == UInt8(ascii: "\r") { text.removeLast() }
    return Array(text)
  }
}
