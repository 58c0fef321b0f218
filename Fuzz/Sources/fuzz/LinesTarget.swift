internal import Glibc

@testable import Attache

/// Bytes through a pipe, in pieces of any size, to the line reader, the payload reader and the
/// splice.
///
/// - Every line comes out once, whole, in order and byte for byte; one beyond the maximum comes in
///   pieces that make it up.
/// - What the payload reader takes for JSON is JSON to ``JSONReference``, and the other way round.
/// - A candidate has the alert flag, and neither it nor any object on the payload path has the
///   output member, whichever of several members of one name is taken; the member goes into the
///   object at the payload path and nowhere else.
/// - The spliced line is the original with one insertion, is JSON, and its payload has the member
///   as its last; in an envelope it is JSON with nothing but insertions.
struct LinesTarget: Target {
  private static let maximumLines = [24, 300, 4_000, LineReader.maximumLine]
  /// Where services read objects that stand in no string and in no array.
  private static let ways = [["message", "apns", "payload"], ["message", "data"], ["apns", "payload"], ["data"]]
  private static let blockSizes = [32, 512, 4_096, 256 << 10]

  private let whole = PayloadReader()
  private let inEnvelope = PayloadReader(payloadPath: JSONPointer("message", "0"))
  private let member = AttachmentMember(baseURL: "https://media.example/")
  private let attachment = Attachment(
    identifier: "photo", file: StoredFile(StoreName(digest: SHA256.hash([10]), type: .jpeg), size: 3),
    source: "https://cdn.example/\"\\\u{7}ü", options: AttachmentOptions(thumbnailHidden: true))

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    let choice = Int(input.byte())
    let seed = input.byte()
    let stream = input.rest.prefix(60_000)  // a pipe takes 64 KiB without anybody who reads
    let maximum = Self.maximumLines[choice & 3]
    let lines = read(Pieces(of: stream, seed: seed, largest: 64), maximum: maximum, blockSize: Self.blockSizes[choice >> 2 & 3])
    var expected = stream.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) + [UInt8(ascii: "\n")] }
    expected[expected.count - 1].removeLast()
    if expected.last == [] { expected.removeLast() }
    check(lines.map(\.bytes) == expected, "every line comes out once, byte for byte")
    for line in lines {
      let isLong = line.bytes.count - (line.bytes.last == UInt8(ascii: "\n") ? 1 : 0) > maximum
      check(line.segment == nil ? isLong : !isLong, "a line comes in pieces when it is beyond the maximum, and only then")
      if let segment = line.segment { judge(segment, line.bytes, path: choice & 16 == 0 ? [] : ["message", "0"]) }
    }
  }

  // MARK: Lines

  /// A line that came: as one segment, or nil when it came in pieces.
  private struct Line {
    var segment: Segment?
    var bytes: [UInt8]
  }

  private func read(_ pieces: Pieces, maximum: Int, blockSize: Int) -> [Line] {
    var pieces = pieces
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0, let stop = try? ReadingStop() else { return [] }
    let reader = LineReader(descriptor: ends[0], stop: stop, padding: PayloadReader.padding, blockSize: blockSize, maximumLine: maximum)
    var isOpen = true
    var isInside = false
    var lines: [Line] = []
    defer { close(ends[0]) }
    while true {
      guard let input = try? reader.next() else { return lines }
      switch input {
      case .line(let segment), .unfinished(let segment):
        check(!isInside, "no line begins within another")
        lines.append(Line(segment: segment, bytes: segment.bytes))
      case .overlong(let piece, let isLast):
        let bytes = piece.bytes
        if isInside { lines[lines.count - 1].bytes += bytes } else { lines.append(Line(bytes: bytes)) }
        isInside = !isLast
      case .pause:
        if let piece = pieces.next() {
          _ = unsafe piece.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
        } else if isOpen {
          close(ends[1])
          isOpen = false
        }
      case .end:
        check(!isInside, "a line in pieces is told that it is over")
        return lines
      case .stopped:
        check(false, "nobody asked to stop")
      }
    }
  }

  // MARK: Payloads

  private func judge(_ segment: Segment, _ line: [UInt8], path: [String]) {
    let reader = path.isEmpty ? whole : inEnvelope
    let reading = unsafe segment.withUnsafeBytes { unsafe reader.read($0) }
    let document = JSONReference(line)
    let isObject = document?.isObject ?? false
    switch reading {
    case .invalid:
      check(!isObject && !JSONReference.isBlank(line), "a JSON object is not invalid: \(quoted(line))")
      let mistake = unsafe segment.withUnsafeBytes { unsafe JSONMistake(of: $0) }
      check((1...line.count + 1).contains(mistake.column), "a mistake is in its line: \(quoted(line))")
    case .passthrough(_, .payloadSize, _): check(line.count > PayloadReader.maximumLineLength, "only a long line is too long")
    case .passthrough, .unopened:
      // Expo's request is an array.
      let isList = path.isEmpty && document != nil && line.contains(UInt8(ascii: "["))
      check(isObject || isList || JSONReference.isBlank(line), "what passes is a JSON object: \(quoted(line))")
    case .candidates(let payloads):
      for payload in payloads { check(payload.references.isEmpty || payload.unread == nil, "what is read is not unread: \(quoted(line))") }
      guard let document, let place = document.find(path) else { return check(false, "a candidate has a payload: \(quoted(line))") }
      // The payload of an envelope is another object, which may lie in a string; a request may hold
      // several.
      guard document.member("aps", of: place) != nil || !path.isEmpty else {
        check(!Self.ways.contains { document.holds("attache", along: $0[...]) }, "an enriched envelope is no candidate: \(quoted(line))")
        return judge(payloads.map(\.splice), ofEnvelope: line)
      }
      check(payloads.count == 1, "a line that is a payload is one: \(quoted(line))")
      judge(payloads[0].splice, of: line, document, place, path)
    }
  }

  private func judge(_ splices: [Splice], ofEnvelope line: [UInt8]) {
    let edits = splices.flatMap { $0.edits(with: member.bytes(for: [attachment])) }
    let spliced = LineEdit.apply(edits, to: line)
    check(
      edits.allSatisfy { $0.range.isEmpty && line.indices.contains($0.range.lowerBound) },
      "an envelope gains and loses nothing: \(quoted(line))")
    check(JSONReference(spliced) != nil, "a spliced envelope is JSON: \(quoted(spliced))")
    let again = unsafe Array(spliced + Array(repeating: 0, count: PayloadReader.padding)).withUnsafeBytes { bytes in
      unsafe whole.read(UnsafeRawBufferPointer(rebasing: bytes.dropLast(PayloadReader.padding)))
    }
    guard case .passthrough(_, .payloadEnriched, _) = again else { return check(false, "an enriched envelope passes: \(quoted(spliced))") }
  }

  private func judge(_ splice: Splice, of line: [UInt8], _ document: JSONReference, _ place: Int, _ path: [String]) {
    check(document.range(of: place) == splice.payload, "the payload lies at its path: \(quoted(line))")
    check(document.members(of: place).isEmpty == splice.isEmptyObject, "an empty payload is known for one: \(quoted(line))")
    check(!document.holds("attache", along: path[...]), "an enriched payload is no candidate: \(quoted(line))")
    let flag = document.member("aps", of: place).flatMap { document.member("mutable-content", of: $0) }.map { document.text(of: $0) }
    check(flag == "true" || flag.flatMap(Double.init) == 1, "a candidate asks for the extension: \(quoted(line))")

    let bytes = member.bytes(for: [attachment])
    let spliced = LineEdit.apply(splice.edits(with: bytes), to: line)
    let inserted = (splice.isEmptyObject ? [] : [UInt8(ascii: ",")]) + bytes
    check(spliced == line[..<splice.offset] + inserted + line[splice.offset...], "a splice is one insertion: \(quoted(line))")
    guard let enriched = JSONReference(spliced), let payload = enriched.find(path) else {
      return check(false, "a spliced line is JSON: \(quoted(spliced))")
    }
    let names = document.members(of: place).map(\.name) + [Array("attache".utf8)]
    check(enriched.members(of: payload).map(\.name) == names, "the member is the payload's last: \(quoted(spliced))")
  }
}

extension Segment {
  /// A copy of the bytes.
  fileprivate var bytes: [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }
}
