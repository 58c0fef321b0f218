/// A file on its way into the store. Its bytes are recognised, checked, hashed and written on the
/// thread where they arrive. On the loop only.
///
/// The first bytes determine the type. If ``SignatureRules`` cannot determine it, the type detector's
/// process is asked, and the file waits for the result.
final class MediaIngest {
  /// A request to the type detector's process.
  struct Question: Sendable {
    /// The first bytes of the file.
    var prefix: [UInt8]
    /// Whether they are the complete file.
    var isComplete: Bool
  }

  /// The number of bytes that are gathered before they are written. A smaller file is stored with a
  /// single write, or with none if the store already has it.
  private static let portion = 128 * 1024
  /// The largest buffer that libcurl delivers (CURL_MAX_WRITE_SIZE).
  private static let piece = 16 * 1024

  private enum Recognition {
    case open, asked, known(MediaType)
  }

  private let store: AttachmentStore
  private let limits: MediaLimits
  private var recognition = Recognition.open
  private var structure: FileStructure?
  private var file: PartialFile?
  private var gathered: [UInt8] = []
  private var isComplete = false
  private var question: Question?

  init(store: AttachmentStore, limits: MediaLimits) {
    (self.store, self.limits) = (store, limits)
  }

  /// The detected type; nil until it is known.
  var type: MediaType? {
    if case .known(let type) = recognition { type } else { nil }
  }

  /// Whether the transfer must pause until the detector's process has replied.
  var isFull: Bool {
    if case .asked = recognition { gathered.count >= Self.portion } else { false }
  }

  /// Returns the pending request to the detector, once. Pass its result to ``handle(_:)``.
  func takeQuestion() -> Question? {
    question.take()
  }

  /// Takes the next bytes.
  ///
  /// - Parameter expected: the number of bytes still to come, including these, as far as it is
  ///   known.
  /// - Throws: why the file is refused.
  func take(_ bytes: UnsafeRawBufferPointer, expecting expected: Int) throws(FetchFailure) {
    if gathered.isEmpty { gathered.reserveCapacity(min(max(expected, bytes.count), Self.portion + Self.piece)) }
    unsafe gathered.append(contentsOf: bytes)
    if case .open = recognition, gathered.count > TypeDetector.prefixLength { try recognise() }
    if let type, gathered.count >= Self.portion { try writeGathered(as: type) }
  }

  /// Finishes the file.
  ///
  /// - Returns: the stored file, pinned once; nil when the detector's process must reply first.
  /// - Throws: why the file is refused.
  func finish() throws(FetchFailure) -> StoredFile? {
    isComplete = true
    if case .open = recognition { try recognise() }
    guard let type else { return nil }
    return try stored(as: type)
  }

  /// Takes the result of the detector's process.
  ///
  /// - Returns: the stored file, pinned once; nil when it is not complete yet.
  /// - Throws: why the file is refused.
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
    } else if let type = SignatureRules.type(of: FileHead(bytes: prefix, isWhole: isWhole)) {
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
      guard type.isAcceptedByApple else { throw FetchFailure(reason: .typeUnsupported, message: "the bytes are \(type.mime)") }
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

  /// Checks the size and the structure of the gathered bytes.
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
  /// Creates the failure of a file that is larger than its kind may be.
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

  /// Creates the failure of a file with an invalid structure.
  init(_ defect: FileDefect, limits: MediaLimits) {
    switch defect {
    case .broken(let text):
      self.init(reason: .typeBroken, message: "the file is damaged or truncated: \(text); repair it at the origin")
    case .foreign(let text):
      self.init(reason: .typeUnsupported, message: "\(text); \(Reason.typeUnsupported.advice)")
    case .tooManyPixels(let width, let height):
      self.init(
        reason: .sizePixels,
        message: "the picture has \(width) × \(height) pixels, more than \(limits.pixels) in all; shrink it or raise --max-pixels")
    }
  }
}
