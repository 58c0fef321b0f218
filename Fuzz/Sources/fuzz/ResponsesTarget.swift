internal import Glibc

@testable import Attache

/// What an origin sends: header lines to the response head and to acceptance, then the body in
/// pieces to the reader of chunks, the ingest, the type detector, the header readers and the store.
///
/// - A body is taken only behind a 200, or a 206 that was asked for; with no coding, one length or
///   none, no field that readers differ about, within the caps.
/// - A redirect is followed only from the statuses that say so, with one Location.
/// - Chunks that are taken are chunks to ``PlainChunks``, and come to the same body.
/// - What is stored is the body byte for byte, not empty, within the limit of its kind, and begins
///   as its type begins, except that the sound of an MP3 may begin within 64 KB.
/// - However the body is cut into pieces, the answer is the same, of its structure too; no header
///   reader traps.
struct ResponsesTarget: Target {
  private static let limits = MediaLimits(image: 6_000, audio: 9_000, video: 12_000, pixels: 1_000_000)
  private static let formats: [MagicFormat] = [.jpeg, .png, .gif, .aiff, .wave, .avi, .mpegAudio, .mpegVideo, .isoMedia]

  private let folder: String
  private let store: AttachmentStore
  private let detector: TypeDetector

  init() throws {
    var template = Array("/dev/shm/attache-fuzz-XXXXXX".utf8CString)
    guard let path = unsafe mkdtemp(&template) else { throw StartError("no folder in /dev/shm") }
    folder = unsafe String(cString: path)
    store = try AttachmentStore(directory: folder, maximumBytes: 1_000_000, maximumAge: .seconds(3_600))
    detector = try TypeDetector()
  }

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    let seed = input.byte()
    // Half of the inputs are a body alone, behind a head that is in order.
    let offset = Int(input.byte())
    guard offset & 1 == 1 else { return take(Array(input.rest), seed: seed) }
    var head = ResponseHead()
    var lines: [[UInt8]] = []
    var rest = input.rest
    while !head.isComplete, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(rest[...end])
      rest = rest[(end + 1)...]
      lines.append(line)
      guard unsafe line.withUnsafeBytes({ unsafe head.add($0) }) else { return }
    }
    guard head.isComplete else { return }
    let verdict = Acceptance.judge(head, resumingFrom: offset / 2, validator: "\"v\"")
    judge(verdict, of: head, PlainHead(lines), offset: offset / 2)
    guard case .body(let length, false) = verdict, length ?? 0 <= rest.count else { return }
    if head.isChunked { return takeChunks(Array(rest), head, seed: seed) }
    take(Array(rest.prefix(length ?? rest.count)), seed: seed)
  }

  // MARK: The head

  private func judge(_ verdict: ResponseVerdict, of head: ResponseHead, _ plain: PlainHead, offset: Int) {
    check(plain.byteCount <= 256 * 1024 && plain.lineCount <= 256, "a head is within its caps")
    check(head.status == plain.status, "the status is the last status line's: \(head.status), \(plain)")
    switch verdict {
    case .body(let length, let resumes):
      check(plain.status == 200 && !resumes || plain.status == 206 && resumes && offset > 0, "a body comes with its status: \(plain)")
      check(plain["content-encoding"].allSatisfy { !hasCoding($0) }, "no coding is taken: \(plain)")
      check(!plain.isAmbiguous, "no field is taken that readers differ about: \(plain)")
      let lengths = plain["content-length"]
      let codings = plain["transfer-encoding"].map { $0.lowercased() }
      check(codings.isEmpty || codings == ["chunked"] && !plain.isHTTP10, "one framing is taken: \(plain)")
      check(lengths.count <= 1, "one length is taken: \(plain)")
      if !resumes, codings.isEmpty { check(lengths.first.map { Int($0) } ?? nil == length, "the length is the one that is said: \(plain)") }
    case .redirect(let location):
      check(!plain.isAmbiguous, "no field is taken that readers differ about: \(plain)")
      check([301, 302, 303, 307, 308].contains(plain.status), "a redirect comes with its status: \(plain)")
      check(plain["location"] == [String(decoding: location, as: UTF8.self)], "a redirect has one Location: \(plain)")
    case .retry:
      check([408, 425, 429].contains(plain.status) || 500...599 ~= plain.status, "a further try comes with its status: \(plain)")
    case .unchanged: check(plain.status == 304, "what has not changed comes with its status: \(plain)")
    case .refuse: break
    }
  }

  /// Whether a field names a coding that origins use.
  private func hasCoding(_ field: String) -> Bool {
    field.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
      .contains { ["gzip", "x-gzip", "deflate", "br", "zstd", "compress"].contains($0) }
  }

  // MARK: The body

  private func takeChunks(_ bytes: [UInt8], _ head: ResponseHead, seed: UInt8) {
    var (head, chunks, body) = (head, ChunkedBody(), [UInt8]())
    do throws(ChunkedBody.Mistake) {
      for piece in Pieces(of: bytes[...], seed: seed, largest: 300) {
        body += try chunks.read(piece[...], of: &head)
      }
    } catch { return }
    guard chunks.isComplete else { return }
    guard let plain = PlainChunks.read(bytes) else { return check(false, "chunks that are taken are chunks: \(quoted(bytes))") }
    check(plain.body == body, "chunks come to one body: \(quoted(bytes))")
    check(chunks.hasSurplus == (plain.length < bytes.count), "what comes behind the end is seen: \(quoted(bytes))")
    take(body, seed: seed)
  }

  private func take(_ body: [UInt8], seed: UInt8) {
    let head = FileHead(bytes: Array(body.prefix(TypeDetector.prefixLength)), isWhole: body.count <= TypeDetector.prefixLength)
    for format in Self.formats { _ = format.verdict(head) }
    _ = MagicFormat(unnamed: head)

    let ingest = MediaIngest(store: store, limits: Self.limits)
    let detection = unsafe body.withUnsafeBytes { unsafe detector.detect($0, isComplete: head.isWhole) }
    switch end(of: ingest, body, seed: seed) {
    case .success(let file):
      check(ingest.type == file.type, "a file has the type that was told")
      check(
        detection == .accepted(file.type) || file.type == .mp3 && detection.mayHideSound && hidesSound(body),
        "the type is the one that the bytes say, however they come")
      check(defect(of: body, file.type) == nil, "a damaged file is not stored: \(file.type)")
      judge(file, body)
      store.unpin(file)
    case .failure(let failure): judge(failure, ingest.type, detection, body)
    }
  }

  /// Hands the body to the ingest in pieces, and answers its question when the seed has it.
  private func end(of ingest: MediaIngest, _ body: [UInt8], seed: UInt8) -> Result<StoredFile, FetchFailure> {
    var timeLimit = Int(seed & 3)
    var question: MediaIngest.Question?
    do throws(FetchFailure) {
      for piece in Pieces(of: body[...], seed: seed, largest: 5_000) {
        question = question ?? ingest.takeQuestion()
        if question != nil { timeLimit -= 1 }
        if timeLimit < 0, let asked = question.take() { _ = try ingest.handle(answer(asked)) }
        try take(piece, ingest)
      }
      if let asked = question ?? ingest.takeQuestion() { _ = try ingest.handle(answer(asked)) }
      if case .stored(let file) = try ingest.finish() { return .success(file) }
      guard let asked = ingest.takeQuestion(), case .stored(let file) = try ingest.handle(answer(asked)) else {
        fatalError("broken promise: a file has no end")
      }
      return .success(file)
    } catch {
      return .failure(error)
    }
  }

  private func take(_ piece: [UInt8], _ ingest: MediaIngest) throws(FetchFailure) {
    let result: Result<Void, FetchFailure> = unsafe piece.withUnsafeBytes { bytes in
      do throws(FetchFailure) { return .success(try unsafe ingest.take(bytes, expecting: bytes.count)) } catch { return .failure(error) }
    }
    try result.get()
  }

  private func answer(_ question: MediaIngest.Question) -> Detection {
    unsafe question.prefix.withUnsafeBytes { unsafe detector.detect($0, isComplete: question.isComplete) }
  }

  private func judge(_ file: StoredFile, _ body: [UInt8]) {
    check(!body.isEmpty && file.size == body.count, "a file has the body's size")
    check(file.size <= Self.limits[file.type.kind], "a file is within the limit of its kind")
    check(contents(of: folder + "/" + file.relativePath) == body, "a file is the body byte for byte")
    check(
      MagicBytes.begin(body, file.type) || file.type == .mp3 && hidesSound(body),
      "a file begins as its type does: \(file.type) \(quoted(body.prefix(40)))")
  }

  /// Whether three frames of an MP3 begin within the first bytes, or may within those behind its tags.
  private func hidesSound(_ body: [UInt8]) -> Bool {
    let head = FileHead(bytes: body, isWhole: true)
    return ID3Tag.end(in: head).map { MPEGAudioFrame.isSound(in: head, from: $0) } != false
  }

  /// What the file's structure says, read in one piece.
  private func defect(of body: [UInt8], _ type: MediaType) -> FileDefect? {
    guard var structure = FileStructure(of: type, maximumPixels: Self.limits.pixels) else { return nil }
    return unsafe body.withUnsafeBytes { unsafe structure.read($0) } ?? structure.end()
  }

  private func judge(_ failure: FetchFailure, _ type: MediaType?, _ detection: Detection, _ body: [UInt8]) {
    switch detection {
    case .accepted(let accepted):
      check(type == accepted, "the type is told before a file is refused for its size")
      let isTooLarge = [Reason.sizeImage, .sizeAudio, .sizeVideo].contains(failure.reason)
      check(
        isTooLarge || isSame(defect(of: body, accepted), failure.reason),
        "only its size or its structure refuses a file of a type: \(failure.reason)")
      check(!isTooLarge || body.count > Self.limits[accepted.kind], "a file within its limit is not too large: \(failure.reason)")
    case .undecided(let failure):
      if case .died = failure { check(false, "no bytes end the detector: \(failure)") }
    case .refused(let reason, _):
      let isOfSound =
        detection.mayHideSound && hidesSound(body)
        && (failure.reason == .sizeAudio || isSame(defect(of: body, .mp3), failure.reason))
      check(failure.reason == reason || isOfSound, "a refusal is the same however the bytes come: \(failure.reason)")
    }
  }

  private func isSame(_ defect: FileDefect?, _ reason: Reason) -> Bool {
    switch defect {
    case .broken: reason == .typeBroken
    case .foreign: reason == .typeUnsupported
    case .tooManyPixels: reason == .sizePixels
    case nil: false
    }
  }

  private func contents(of path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 20_000)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return Array(bytes.prefix(max(0, count)))
  }
}
