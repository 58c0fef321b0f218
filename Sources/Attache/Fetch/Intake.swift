/// A file on its way into the store: the media thread's side of a fetch.
///
/// The calls from the loop only post; the news comes on the media thread.
///
/// `@unchecked Sendable`: the state below `worker` is touched on the worker's thread only, in the order the loop posted.
final class Intake: @unchecked Sendable {
  enum News: Sendable {
    /// The bytes have said what the file is.
    case recognised(MediaType)
    /// The file is not wanted; with its type, if the bytes have said it.
    case refused(FetchFailure, MediaType?)
    /// The file is in the store, pinned once.
    case stored(StoredFile)
  }

  private let worker: MediaWorker
  private let limits: MediaLimits
  private let tell: @Sendable (News) -> Void
  private var prefix: [UInt8] = []
  private var type: MediaType?
  private var structure: FileStructure?
  private var file: PartialFile?
  private var isOver = false

  init(worker: MediaWorker, limits: MediaLimits, tell: @escaping @Sendable (News) -> Void) {
    self.worker = worker
    self.limits = limits
    self.tell = tell
  }

  /// Whether no more should be taken from the network for now.
  var isFull: Bool {
    worker.isFull
  }

  /// Calls back when all that was handed over so far has been dealt with.
  func whenDrained(_ action: @escaping @Sendable () -> Void) {
    worker.perform(action)
  }

  /// Hands over the next bytes; the last ones end the file.
  func append(_ bytes: [UInt8], isLast: Bool) {
    worker.perform(holding: bytes.count) { [self] in
      guard !isOver else { return }
      do throws(FetchFailure) {
        try take(bytes, isLast: isLast)
      } catch {
        end(with: .refused(error, type))
      }
    }
  }

  /// Forgets the file.
  func abandon() {
    worker.perform { [self] in
      isOver = true
      file = nil
    }
  }

  private func take(_ bytes: [UInt8], isLast: Bool) throws(FetchFailure) {
    guard let type else { return try takePrefix(bytes, isLast: isLast) }
    try write(bytes, as: type)
    if isLast { try finish(as: type) }
  }

  private func takePrefix(_ bytes: [UInt8], isLast: Bool) throws(FetchFailure) {
    if prefix.isEmpty { prefix = bytes } else { prefix += bytes }
    guard isLast || prefix.count >= TypeDetector.prefixLength else { return }
    let type = try recognise(isComplete: isLast)
    self.type = type
    structure = FileStructure(of: type, maximumPixels: limits.pixels)
    // Of a whole file the end tells the same at once.
    if !isLast { tell(.recognised(type)) }
    let head = prefix
    prefix = []
    if isLast { try store(whole: head, as: type) } else { try write(head, as: type) }
  }

  private func recognise(isComplete: Bool) throws(FetchFailure) -> MediaType {
    let detection = unsafe prefix.withUnsafeBytes { unsafe worker.detector.detect($0, isComplete: isComplete) }
    switch detection {
    case .accepted(let type): return type
    case .refused(let reason, let found): throw FetchFailure(reason: reason, message: "the bytes are \(found)")
    case .undecided(let failure): throw FetchFailure(failure)
    }
  }

  private func write(_ bytes: [UInt8], as type: MediaType) throws(FetchFailure) {
    do throws(StoreError) {
      if file == nil { file = try worker.store.beginFile() }
      guard let file else { return }
      if let failure = check(bytes, behind: file.size, as: type) { return end(with: .refused(failure, type)) }
      try file.append(bytes)
    } catch {
      throw FetchFailure(error)
    }
  }

  /// What the next bytes are refused for.
  private func check(_ bytes: [UInt8], behind size: Int, as type: MediaType) -> FetchFailure? {
    guard size + bytes.count <= limits[type.kind] else { return FetchFailure(tooLarge: type.kind, limits: limits) }
    let defect = unsafe bytes.withUnsafeBytes { unsafe structure?.read($0) }
    return defect.map { FetchFailure($0, limits: limits) }
  }

  private func store(whole bytes: [UInt8], as type: MediaType) throws(FetchFailure) {
    if let failure = check(bytes, behind: 0, as: type) { throw failure }
    if let defect = structure?.end() { throw FetchFailure(defect, limits: limits) }
    let result: Result<StoredFile, StoreError> = unsafe bytes.withUnsafeBytes { bytes in
      do throws(StoreError) {
        return .success(try unsafe worker.store.add(bytes, type: type))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let file): end(with: .stored(file))
    case .failure(let error): throw FetchFailure(error)
    }
    worker.store.pruneInBackground()
  }

  private func finish(as type: MediaType) throws(FetchFailure) {
    guard let file else { return }
    if let defect = structure?.end() { throw FetchFailure(defect, limits: limits) }
    do throws(StoreError) {
      end(with: .stored(try file.finish(type: type)))
      worker.store.pruneInBackground()
    } catch {
      throw FetchFailure(error)
    }
  }

  private func end(with news: News) {
    isOver = true
    if case .refused = news { file?.discard() }
    file = nil
    tell(news)
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
