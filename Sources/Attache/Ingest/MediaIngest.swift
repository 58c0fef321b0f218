/// A file on its way into the store. Its bytes are recognised, checked, hashed and written on the
/// thread where they arrive. On the loop only.
///
/// The first bytes determine the type. If ``SignatureRules`` cannot determine it, the type detector's
/// process is asked, and the file waits for the result. If that has no name for it either, the file
/// may be an MP3 whose sound begins later.
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
  /// The number of bytes in which a picture's size is looked for.
  private static let headerLength = 64 * 1024
  /// The number of bytes in which the sound of an MP3 is searched for, behind a tag within the
  /// detector's bytes. It is less than a portion.
  private static let soundReach = TypeDetector.prefixLength + MPEGAudioFrame.searchReach
  /// The largest buffer that libcurl delivers (CURL_MAX_WRITE_SIZE).
  private static let piece = 16 * 1024

  private enum Recognition {
    case open, asked, known(MediaType)
    /// Neither is its type known nor does its sound begin at once. The failure is for a file without
    /// a sound.
    case unnamed(FetchFailure)
    /// A picture that Apple does not accept and that can be converted, with the pixels that it
    /// claims.
    case foreign(PictureFormat, pixels: Int?)
  }

  /// The result of a complete file.
  enum Finished {
    /// The file is stored, and pinned once.
    case stored(StoredFile)
    /// It is a picture that must be converted first.
    case picture(SourcePicture)
  }

  private let store: AttachmentStore
  private let limits: DownloadLimits
  /// The type that the bytes must have; nil to recognise it.
  private let expected: MediaType?
  private var recognition = Recognition.open
  private var structure: FileStructure?
  /// Why a JPEG cannot be attached as it is, although a conversion may still read it.
  private var damage: FetchFailure?
  private var file: PartialFile?
  private var gathered: [UInt8] = []
  private var isComplete = false
  private var isEndCertain = true
  private var question: Question?

  /// - Parameter conversion: how pictures that are not accepted as they are will be converted; nil
  ///   if they are refused.
  init(store: AttachmentStore, limits: MediaLimits, conversion: Conversion? = nil) {
    (self.store, self.limits, expected) = (store, DownloadLimits(limits, conversion), nil)
  }

  /// Creates the ingest of a file that a converter makes.
  init(store: AttachmentStore, limits: MediaLimits, expecting type: MediaType) {
    (self.store, self.limits, expected) = (store, DownloadLimits(limits), type)
  }

  /// The detected type; nil until it is known.
  var type: MediaType? {
    if case .known(let type) = recognition { type } else { nil }
  }

  /// The size of the picture, once it is known.
  var pictureSize: (width: Int, height: Int)? { structure?.pictureSize }

  private var isRecognised: Bool {
    switch recognition {
    case .open, .asked, .unnamed: false
    case .known, .foreign: true
    }
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
    try searchSound()
    if isRecognised, gathered.count >= Self.portion { try writeGathered() }
  }

  /// Finishes the file.
  ///
  /// - Parameter isEndCertain: whether it is known that no byte is missing at its end. If not, the
  ///   file itself must show it.
  /// - Returns: nil when the detector's process must reply first.
  /// - Throws: why the file is refused.
  func finish(isEndCertain: Bool = true) throws(FetchFailure) -> Finished? {
    (isComplete, self.isEndCertain) = (true, isEndCertain)
    if case .open = recognition { try recognise() }
    try searchSound()
    return isRecognised ? try finished() : nil
  }

  /// Takes the result of the detector's process.
  ///
  /// - Returns: nil when the file is not complete yet.
  /// - Throws: why the file is refused.
  func handle(_ detection: Detection) throws(FetchFailure) -> Finished? {
    try accept(detection)
    try searchSound()
    if isComplete { return try finished() }
    if gathered.count >= Self.portion { try writeGathered() }
    return nil
  }

  private func recognise() throws(FetchFailure) {
    let prefix = Array(gathered.prefix(TypeDetector.prefixLength))
    let isWhole = isComplete && prefix.count == gathered.count
    if prefix.isEmpty {
      try accept(.empty)
    } else if let expected {
      guard MagicFormat(mime: expected.mime)?.verdict(FileHead(bytes: prefix, isWhole: isWhole)) == .type(expected) else {
        throw FetchFailure(reason: .typeUnknown, message: "the bytes are not \(expected.mime)")
      }
      try accept(.accepted(expected))
    } else if let type = SignatureRules.type(of: FileHead(bytes: prefix, isWhole: isWhole)) {
      try accept(.accepted(type))
    } else {
      recognition = .asked
      question = Question(prefix: prefix, isComplete: isWhole)
    }
  }

  private func accept(_ detection: Detection) throws(FetchFailure) {
    switch detection {
    case .accepted(let type):
      guard type.isAcceptedByApple else { throw FetchFailure(unaccepted: type.mime, reason: .typeUnsupported) }
      recognition = .known(type)
      structure = FileStructure(of: type, maximumPixels: limits.pixels)
    case .refused(_, TypeDetector.appPicture): throw FetchFailure.appPicture
    case .refused(let reason, let found):
      let isDamaged = reason == .typeUnknown && MagicFormat(mime: found) != nil
      let failure =
        isDamaged
        ? FetchFailure(damagedHead: found)
        : FetchFailure(preceded: gathered.prefix(TypeDetector.prefixLength), found, reason)
          ?? FetchFailure(unaccepted: found, reason: reason)
      if detection.mayHideSound {
        recognition = .unnamed(failure)
        return
      }
      guard limits.conversion != nil, let format = PictureFormat(foreign: found) else { throw failure }
      // Nothing has been written yet.
      recognition = .foreign(format, pixels: PictureHeader.pixels(of: format, in: Array(gathered.prefix(Self.headerLength))))
    case .undecided(let failure): throw FetchFailure(failure)
    }
  }

  /// Searches for the sound of an MP3 that does not begin with it, once enough of the file has
  /// arrived.
  private func searchSound() throws(FetchFailure) {
    guard case .unnamed(let failure) = recognition, isComplete || gathered.count >= Self.soundReach else { return }
    let head = FileHead(bytes: gathered, isWhole: isComplete)
    // The structure shows what stands behind further tags that are longer.
    guard ID3Tag.end(in: head).map({ MPEGAudioFrame.isSound(in: head, from: $0) }) ?? !isComplete else { throw failure }
    try accept(.accepted(.mp3))
  }

  private func writeGathered() throws(FetchFailure) {
    try check(behind: file?.size ?? 0)
    try append()
  }

  private func append() throws(FetchFailure) {
    do throws(StoreError) {
      if file == nil { file = try store.beginFile() }
      try file?.append(gathered)
    } catch {
      throw FetchFailure(error)
    }
    gathered.removeAll(keepingCapacity: true)
  }

  /// Checks the size and the structure of the gathered bytes.
  private func check(behind size: Int) throws(FetchFailure) {
    let kind = type?.kind ?? .image
    guard size + gathered.count <= limits[kind] else { throw FetchFailure(tooLarge: kind, limits: limits) }
    if let defect = unsafe gathered.withUnsafeBytes({ unsafe structure?.read($0) }) { try note(defect) }
  }

  /// Refuses a file with a defect, unless it is a JPEG that a conversion may read.
  private func note(_ defect: FileDefect) throws(FetchFailure) {
    let failure = FetchFailure(defect, limits: limits)
    guard limits.conversion != nil, type == .jpeg, failure.reason == .typeBroken else { throw failure }
    (structure, damage) = (nil, failure)
  }

  private func finished() throws(FetchFailure) -> Finished {
    if file == nil { try check(behind: 0) } else if !gathered.isEmpty { try writeGathered() }
    if let defect = structure?.end() { try note(defect) }
    // Without a length, the damage may be that the rest is missing.
    if !isEndCertain, let damage { throw damage }
    if !isEndCertain, type != nil, structure?.marksEnd != true { throw FetchFailure.unknownEnd }
    if let picture = try sourcePicture() { return .picture(picture) }
    guard let type else { throw FetchFailure(reason: .internal) }
    return .stored(try stored(as: type))
  }

  /// Returns the complete file if it is a picture that must be converted. A small one is written
  /// now.
  private func sourcePicture() throws(FetchFailure) -> SourcePicture? {
    guard let conversion = limits.conversion else { return nil }
    let (format, pixels, acceptable): (PictureFormat?, Int?, MediaType?) =
      switch recognition {
      case .open, .asked, .unnamed: (nil, nil, nil)
      case .foreign(let format, let pixels): (format, pixels, nil)
      case .known where damage != nil: (.jpeg, nil, nil)
      case .known(let type): sourceFormat(of: type, conversion)
      }
    guard let format else { return nil }
    // libvips would warn of the lack of an end marker. The bytes behind it tell the picture from one
    // that is complete by its structure: equal bytes share a conversion.
    if damage != nil { gathered += [0xFF, 0xD9] + "damaged".utf8 }
    if !gathered.isEmpty { try append() }
    guard let file = file.take() else { return nil }
    return SourcePicture(file: file, format: format, claimedPixels: pixels, acceptableType: acceptable, damage: damage)
  }

  /// Returns the format and the pixels of a picture that must become smaller, and its type if it is
  /// acceptable as it is; nil for a file that is attached as it is.
  private func sourceFormat(of type: MediaType, _ conversion: Conversion) -> (PictureFormat?, Int?, MediaType?) {
    guard let format = PictureFormat(type), let size = pictureSize else { return (nil, nil, nil) }
    let bytes = (file?.size ?? 0) + (file == nil ? gathered.count : 0)
    guard conversion.shrinks(bytes: bytes, width: size.width, height: size.height, limits: limits.attached) else {
      return (nil, nil, nil)
    }
    let (pixels, overflows) = size.width.multipliedReportingOverflow(by: size.height)
    return (
      format, overflows ? .max : pixels, limits.attached.acceptsPicture(bytes: bytes, width: size.width, height: size.height) ? type : nil
    )
  }

  private func stored(as type: MediaType) throws(FetchFailure) -> StoredFile {
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
