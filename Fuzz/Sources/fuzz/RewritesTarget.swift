@testable import Attache

/// A payload whose URLs are replaced by the addresses of their files, as `--attach-as url` does it.
///
/// - The line stays JSON, and only strings and numbers of it change: URLs, and the hints beside them.
/// - An address of a file replaces each URL: a second run replaces nothing.
/// - A line of which nothing is replaced keeps its bytes.
struct RewritesTarget: Target {
  private static let base = "https://media.example/"
  private static let types: [MediaType] = [.jpeg, .png, .gif, .mpeg4, .mp3]

  private let whole = PayloadReader(publicURL: base)
  private let inEnvelope = PayloadReader(payloadPath: JSONPointer("message", "0"), publicURL: base)
  private let address = StoreAddress(base: base)

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    let choice = Int(input.byte())
    let (line, reader) = (Array(input.rest), choice & 1 == 0 ? whole : inEnvelope)
    let type = Self.types[(choice >> 1) % Self.types.count]
    guard let rewritten = rewrite(line, reader, type) else { return }
    guard let before = JSONReference(line), let after = JSONReference(rewritten) else {
      return check(false, "a rewritten line is JSON: \(quoted(rewritten))")
    }
    check(before.skeleton == after.skeleton, "only strings and numbers change: \(quoted(rewritten))")
    guard let twice = rewrite(rewritten, reader, type) else { return }
    check(twice == rewritten, "twice is once: \(quoted(rewritten))")
  }

  /// Attaches a file to each reference of each payload.
  ///
  /// - Returns: nil if the line has no candidate.
  private func rewrite(_ line: [UInt8], _ reader: PayloadReader, _ type: MediaType) -> [UInt8]? {
    let reading = unsafe (line + Array(repeating: 0, count: PayloadReader.padding)).withUnsafeBytes { bytes in
      unsafe reader.read(UnsafeRawBufferPointer(rebasing: bytes.dropLast(PayloadReader.padding)))
    }
    guard case .candidates(let payloads) = reading else { return nil }
    let segment = Segment(copying: line)
    var edits: [LineEdit] = []
    for payload in payloads {
      var payload = payload
      let attachments = payload.references.map { reference in
        Attachment(identifier: "i", file: file(of: reference.url, type), source: reference.url, options: reference.options)
      }
      let isReplaced = payload.apply(MediaEdit(attachments, of: payload, at: address), in: segment)
      check(isReplaced || payload.edits.isEmpty, "what is not replaced keeps its bytes: \(quoted(line))")
      edits += payload.edits
    }
    let ranges = edits.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
    for (range, next) in zip(ranges, ranges.dropFirst()) {
      check(range.upperBound <= next.lowerBound, "two edits never overlap: \(quoted(line))")
    }
    return LineEdit.apply(edits, to: line)
  }

  /// The file of a URL: each URL has another one.
  private func file(of url: UntrustedText, _ type: MediaType) -> StoredFile {
    StoredFile(StoreName(digest: SHA256.hash(Array(url.utf8)), type: type), size: 9)
  }
}
