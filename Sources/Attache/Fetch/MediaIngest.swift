/// A file on its way into the store: its bytes are recognised, checked, hashed and written where
/// they arrive. On the loop only.
///
/// The first bytes say what the file is. Where the rules of this process leave that open, there is
/// a question for the type detector's process, and the file waits for the answer.
final class MediaIngest {
  /// What the type detector's process is to be asked.
  struct Question: Sendable {
    /// The file's first bytes.
    var prefix: [UInt8]
    /// Whether they are the whole file.
    var isComplete: Bool
  }

  /// Bytes that are gathered before they are written: a smaller file is stored by one write, or by
  /// none where the store has it.
  private static let portion = 128 * 1024
  /// The most that libcurl hands over at a time (CURL_MAX_WRITE_SIZE).
  private static let piece = 16 * 1024

  private enum Recognition {
    case open, asked, known(MediaType)
  }

  private let store: AttachmentStore
  private let rules: SignatureRules?
  private let limits: MediaLimits
  private var recognition = Recognition.open
  private var structure: FileStructure?
  private var file: PartialFile?
  private var gathered: [UInt8] = []
  private var isComplete = false
  private var question: Question?

  /// - Parameter rules: those of the loop's thread; nil asks the detector's process about every
  ///   file.
  init(store: AttachmentStore, rules: SignatureRules?, limits: MediaLimits) {
    (self.store, self.rules, self.limits) = (store, rules, limits)
  }

  /// What the bytes say that the file is; nil as long as they have not.
  var type: MediaType? {
    if case .known(let type) = recognition { type } else { nil }
  }

  /// Whether no more should be taken from the network before the detector's process has answered.
  var isFull: Bool {
    if case .asked = recognition { gathered.count >= Self.portion } else { false }
  }

  /// The question that is still to be asked, once; the answer is for ``handle(_:)``.
  func takeQuestion() -> Question? {
    question.take()
  }

  /// Takes the next bytes.
  ///
  /// - Parameter expected: how many come with and behind these, as far as that is known.
  /// - Throws: why the file is not wanted.
  func take(_ bytes: UnsafeRawBufferPointer, expecting expected: Int) throws(FetchFailure) {
    if gathered.isEmpty { gathered.reserveCapacity(min(max(expected, bytes.count), Self.portion + Self.piece)) }
    unsafe gathered.append(contentsOf: bytes)
    if case .open = recognition, gathered.count > TypeDetector.prefixLength { try recognise() }
    if let type, gathered.count >= Self.portion { try writeGathered(as: type) }
  }

  /// Ends the file.
  ///
  /// - Returns: the stored file, pinned once; nil when the detector's process is to answer first.
  /// - Throws: why the file is not wanted.
  func finish() throws(FetchFailure) -> StoredFile? {
    isComplete = true
    if case .open = recognition { try recognise() }
    guard let type else { return nil }
    return try stored(as: type)
  }

  /// Takes the answer of the detector's process.
  ///
  /// - Returns: the stored file, pinned once; nil when it is not complete yet.
  /// - Throws: why the file is not wanted.
  func handle(_ detection: Detection) throws(FetchFailure) -> StoredFile? {
    let type = try accept(detection)
    if isComplete { return try stored(as: type) }
    if gathered.count >= Self.portion { try writeGathered(as: type) }
    return nil
  }

  private func recognise() throws(FetchFailure) {
    let prefix = Array(gathered.prefix(TypeDetector.prefixLength))
    let isWhole = isComplete && prefix.count == gathered.count
    if prefix.isEmpty {
      try accept(.empty)
    } else if let type = rules?.type(of: FileHead(bytes: prefix, isWhole: isWhole)) {
      try accept(.accepted(type))
    } else {
      recognition = .asked
      question = Question(prefix: prefix, isComplete: isWhole)
    }
  }

  @discardableResult
  private func accept(_ detection: Detection) throws(FetchFailure) -> MediaType {
    switch detection {
    case .accepted(let type):
      recognition = .known(type)
      structure = FileStructure(of: type, maximumPixels: limits.pixels)
      return type
    case .refused(let reason, let found): throw FetchFailure(reason: reason, message: "the bytes are \(found)")
    case .undecided(let failure): throw FetchFailure(failure)
    }
  }

  private func writeGathered(as type: MediaType) throws(FetchFailure) {
    try check(behind: file?.size ?? 0, as: type)
    do throws(StoreError) {
      if file == nil { file = try store.beginFile() }
      try file?.append(gathered)
    } catch {
      throw FetchFailure(error)
    }
    gathered.removeAll(keepingCapacity: true)
  }

  /// Refuses what has been gathered for its size or its structure.
  private func check(behind size: Int, as type: MediaType) throws(FetchFailure) {
    guard size + gathered.count <= limits[type.kind] else { throw FetchFailure(tooLarge: type.kind, limits: limits) }
    let defect = unsafe gathered.withUnsafeBytes { unsafe structure?.read($0) }
    if let defect { throw FetchFailure(defect, limits: limits) }
  }

  private func stored(as type: MediaType) throws(FetchFailure) -> StoredFile {
    if file == nil { try check(behind: 0, as: type) } else if !gathered.isEmpty { try writeGathered(as: type) }
    if let defect = structure?.end() { throw FetchFailure(defect, limits: limits) }
    defer { store.pruneInBackground() }
    let result: Result<StoredFile, StoreError> = unsafe gathered.withUnsafeBytes { bytes in
      do throws(StoreError) {
        if let file { return .success(try file.finish(type: type)) }
        return .success(try unsafe store.add(bytes, type: type))
      } catch {
        return .failure(error)
      }
    }
    do throws(StoreError) { return try result.get() } catch { throw FetchFailure(error) }
  }
}

extension FetchFailure {
  /// The file is larger than its kind may be.
  init(tooLarge kind: MediaKind, limits: MediaLimits) {
    let reason: Reason =
      switch kind {
      case .image: .sizeImage
      case .audio: .sizeAudio
      case .video: .sizeVideo
      }
    self.init(
      reason: reason, message: "the \(kind.rawValue) is larger than \(limits[kind]) bytes; shrink it or raise --limits \(kind.rawValue)=…")
  }

  /// The file's own structure speaks against it.
  init(_ defect: FileDefect, limits: MediaLimits) {
    switch defect {
    case .broken(let text):
      self.init(reason: .typeBroken, message: "the file is damaged or cut off: \(text); mend it at the origin")
    case .foreign(let text):
      self.init(reason: .typeUnsupported, message: "\(text); \(Reason.typeUnsupported.advice)")
    case .tooManyPixels(let width, let height):
      self.init(
        reason: .sizePixels,
        message: "the picture has \(width) × \(height) pixels, more than \(limits.pixels) in all; shrink it or raise --max-pixels")
    }
  }
}
