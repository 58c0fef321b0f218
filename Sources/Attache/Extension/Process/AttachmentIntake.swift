internal import Glibc

/// Moves the files that a service extension attached into the store. Each is checked by its bytes,
/// as a download is.
package final class AttachmentIntake: Sendable {
  /// The bytes that are read at a time.
  private static let portion = 128 << 10

  private let store: AttachmentStore
  private let limits: MediaLimits
  /// The folders whose files may be attached, and whether the files are moved.
  private let places: [(folder: String, isMoved: Bool)]
  private let loop: EventLoop
  private let detector: DetectorBox

  /// - Parameters:
  ///   - folder: the folder of the processes. Its files, and those of the app groups, are moved.
  ///   - bundle: the folder of the program. Its files are copied.
  /// - Throws: an error that says why there is no detector or no thread.
  package init(store: AttachmentStore, limits: MediaLimits, folder: ExtensionFolder, bundle: String) throws {
    (self.store, self.limits) = (store, limits)
    places = [(folder.path, true), (folder.groups, true), (bundle, false)]
    detector = DetectorBox(try TypeDetector())
    loop = try EventLoop(name: "attachments")
  }

  /// Takes the attachments of an answer, one after another, on a thread of its own.
  ///
  /// - Parameter taken: receives the file or the failure of each attachment, in their order.
  package func take(_ attachments: [AnsweredAttachment], taken: @escaping @Sendable ([Result<StoredFile, FetchFailure>]) -> Void) {
    loop.post { [self] in taken(attachments.map(take)) }
  }

  /// Ends the thread, after the attachments that are already taken.
  package func shutdown() {
    loop.post { [detector] in detector.value.close() }
    loop.stop()
  }

  private func take(_ attachment: AnsweredAttachment) -> Result<StoredFile, FetchFailure> {
    Result { () throws(FetchFailure) in
      // The same rule as for an identifier of a payload.
      if MediaReference(url: "", identifier: attachment.identifier).refusal != nil {
        throw FetchFailure(reason: .payloadIdentifier)
      }
      let (descriptor, isMoved) = try open(attachment.path)
      defer { close(descriptor) }
      let file = try store(descriptor)
      if isMoved { unsafe unlink(attachment.path.string) }
      return file
    }
  }

  /// Opens a file below one of the folders. No part of the path may be a symbolic link.
  private func open(_ path: UntrustedText) throws(FetchFailure) -> (descriptor: Int32, isMoved: Bool) {
    for (root, isMoved) in places where path.utf8.starts(with: (root + "/").utf8) {
      let parts = path.utf8.dropFirst(root.utf8.count + 1).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { break }
      var folder = unsafe Glibc.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      for (index, part) in parts.enumerated() {
        let flags = index == parts.count - 1 ? O_RDONLY | O_NONBLOCK : O_RDONLY | O_DIRECTORY
        let next = folder < 0 ? -1 : unsafe openat(folder, part, flags | O_NOFOLLOW | O_CLOEXEC)
        if folder >= 0 { close(folder) }
        folder = next
      }
      guard folder >= 0 else { break }
      guard let status = try? FileStatus(descriptor: folder), status.isRegular else {
        close(folder)
        break
      }
      return (folder, isMoved)
    }
    throw FetchFailure(
      reason: .extensionFile, message: "the service extension attached \(path.string), which is not a file in its own folders")
  }

  private func store(_ descriptor: Int32) throws(FetchFailure) -> StoredFile {
    let ingest = MediaIngest(store: store, limits: limits)
    var buffer = [UInt8](repeating: 0, count: Self.portion)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FetchFailure(reason: .extensionFile, message: "\(SystemError(call: "read", number: errno))") }
      if count == 0 { break }
      let failure = unsafe buffer.withUnsafeBytes { bytes -> FetchFailure? in
        do throws(FetchFailure) {
          try unsafe ingest.take(UnsafeRawBufferPointer(rebasing: bytes[..<count]), expecting: count)
          return nil
        } catch {
          return error
        }
      }
      if let failure { throw failure }
      try answer(ingest.takeQuestion(), for: ingest)
    }
    var finished = try ingest.finish()
    if finished == nil, let question = ingest.takeQuestion() { finished = try ingest.handle(detect(question)) }
    guard case .stored(let file)? = finished else { throw FetchFailure(reason: .internal) }
    return file
  }

  private func answer(_ question: MediaIngest.Question?, for ingest: MediaIngest) throws(FetchFailure) {
    if let question { _ = try ingest.handle(detect(question)) }
  }

  private func detect(_ question: MediaIngest.Question) -> Detection {
    unsafe question.prefix.withUnsafeBytes { unsafe detector.value.detect($0, isComplete: question.isComplete) }
  }
}

/// A detector that only the intake's loop uses.
private final class DetectorBox: @unchecked Sendable {
  let value: TypeDetector

  init(_ value: TypeDetector) {
    self.value = value
  }
}
