internal import Glibc

/// Moves the files that a service extension attached into the store. Each is checked by its bytes,
/// as a download is.
package final class AttachmentIntake: Sendable {
  /// The bytes that are read at a time.
  private static let portion = 128 << 10

  private let store: AttachmentStore
  private let limits: MediaLimits
  private let conversion: Conversion?
  /// The folders whose files may be attached, and whether the files are moved.
  private let places: [(folder: String, isMoved: Bool)]
  private let loop: EventLoop
  private let tools: Tools

  /// - Parameters:
  ///   - conversion: how pictures are converted that cannot be attached as they are; nil if they are
  ///     refused.
  ///   - folder: the folder of the processes. Its files, and those of the app groups, are moved.
  ///   - bundle: the folder of the program. Its files are copied.
  /// - Throws: an error that says why there is no detector, no library for conversions or no thread.
  package init(
    store: AttachmentStore, limits: MediaLimits, conversion: Conversion? = nil, folder: ExtensionFolder, bundle: String
  ) throws {
    (self.store, self.limits, self.conversion) = (store, limits, conversion)
    places = [(folder.path, true), (folder.groups, true), (bundle, false)]
    if conversion != nil { try ConverterLibrary.load() }
    loop = try EventLoop(name: "attachments")
    tools = Tools(
      detector: try TypeDetector(), converters: conversion.map { [loop] in ConverterQueue($0, limits, store: store, on: loop) })
    loop.atTurnEnd { [tools] in tools.converters?.turnEnded() }
  }

  /// Takes the attachments of an answer, one after another, on a thread of its own.
  ///
  /// - Parameters:
  ///   - deadline: when the answer must be decided. A conversion ends before it.
  ///   - taken: receives the file or the failure of each attachment, in their order.
  package func take(
    _ attachments: [AnsweredAttachment], until deadline: MonotonicInstant = .distantFuture, taken: @escaping @Sendable ([Taken]) -> Void
  ) {
    loop.post { [self] in take(attachments[...], [], until: deadline, taken) }
  }

  /// Ends the thread, after the attachments that are already taken.
  package func shutdown() {
    loop.post { [tools] in
      tools.converters?.shutdown()
      tools.detector.close()
    }
    loop.stop()
  }

  private func take(
    _ rest: ArraySlice<AnsweredAttachment>, _ results: [Taken], until deadline: MonotonicInstant,
    _ taken: @escaping @Sendable ([Taken]) -> Void
  ) {
    guard let next = rest.first else { return taken(results) }
    take(next, until: deadline) { [self] result in take(rest.dropFirst(), results + [result], until: deadline, taken) }
  }

  private func take(_ attachment: AnsweredAttachment, until deadline: MonotonicInstant, _ taken: @escaping (Taken) -> Void) {
    let read: Result<(MediaIngest.Finished, bytes: Int), FetchFailure> = Result { () throws(FetchFailure) in
      // The same rule as for an identifier of a payload.
      if MediaReference(url: "", identifier: attachment.identifier).refusal != nil {
        throw FetchFailure(reason: .payloadIdentifier)
      }
      let file = try open(attachment.path)
      let result = try (ingest(file.descriptor, until: deadline), bytes: file.size)
      if file.isMoved { file.remove() }
      return result
    }
    switch read {
    case .failure(let failure): taken(Taken(file: .failure(failure), bytes: 0))
    case .success((.stored(let file), let bytes)): taken(Taken(file: .success(file), bytes: bytes))
    case .success((.picture(let picture), let bytes)):
      convert(picture, until: deadline) { taken(Taken(file: $0, bytes: bytes)) }
    }
  }

  private func convert(
    _ picture: SourcePicture, until deadline: MonotonicInstant, _ converted: @escaping (Result<StoredFile, FetchFailure>) -> Void
  ) {
    guard let converters = tools.converters else { return converted(.failure(FetchFailure(reason: .internal))) }
    let end = deadline.advanced(by: .zero - Fetch.conversionReserve)
    // The result is not needed once the answer is decided, but the conversion ends at the deadline anyway.
    // An answer's attachments come one after another, so the pictures that wait are of different answers.
    tools.pictures += 1
    _ = converters.convert(picture, for: [tools.pictures], until: end, isWanted: { true }) { result in
      converted(result.flatMapError(picture.unconverted))
    }
  }

  /// Opens a file below one of the folders. No part of the path may be a symbolic link.
  private func open(_ path: UntrustedText) throws(FetchFailure) -> AttachedFile {
    // The system would end a name at a null character.
    for (root, isMoved) in places where !path.utf8.contains(0) && path.utf8.starts(with: (root + "/").utf8) {
      let parts = path.utf8.dropFirst(root.utf8.count + 1).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }), let name = parts.last else { break }
      var folder = unsafe Glibc.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      for part in parts.dropLast() where folder >= 0 {
        let next = unsafe openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        close(folder)
        folder = next
      }
      if folder >= 0, let file = AttachedFile(name, in: folder, isMoved: isMoved) { return file }
      break
    }
    throw FetchFailure(
      reason: .extensionFile, message: "the service extension attached \(PrintableText.of(path)), which is not a file in its own folders")
  }

  private func ingest(_ descriptor: Int32, until deadline: MonotonicInstant) throws(FetchFailure) -> MediaIngest.Finished {
    let ingest = MediaIngest(store: store, limits: limits, conversion: conversion)
    var buffer = [UInt8](repeating: 0, count: Self.portion)
    while true {
      // The files of others wait.
      guard loop.now < deadline else { throw FetchFailure(reason: .deadline) }
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
    guard let finished else { throw FetchFailure(reason: .internal) }
    return finished
  }

  private func answer(_ question: MediaIngest.Question?, for ingest: MediaIngest) throws(FetchFailure) {
    if let question { _ = try ingest.handle(detect(question)) }
  }

  private func detect(_ question: MediaIngest.Question) -> Detection {
    unsafe question.prefix.withUnsafeBytes { unsafe tools.detector.detect($0, isComplete: question.isComplete) }
  }
}

extension AttachmentIntake {
  /// What became of an attachment.
  package struct Taken: Sendable {
    /// The stored file, pinned once, or why it cannot be attached.
    package var file: Result<StoredFile, FetchFailure>
    /// The size of the file that the extension attached, in bytes.
    package var bytes: Int
  }

  /// What only the intake's loop uses.
  private final class Tools: @unchecked Sendable {
    let detector: TypeDetector
    let converters: ConverterQueue?
    /// The number of pictures that have been converted.
    var pictures: UInt64 = 0

    init(detector: TypeDetector, converters: ConverterQueue?) {
      (self.detector, self.converters) = (detector, converters)
    }
  }
}

/// An open file that a service extension attached, and the folder that it is in.
private struct AttachedFile: ~Copyable {
  let descriptor: Int32
  let size: Int
  let isMoved: Bool
  private let name: String
  private let folder: Int32

  /// - Parameter folder: this value closes it.
  /// - Returns: nil if there is no regular file of that name.
  init?(_ name: String, in folder: Int32, isMoved: Bool) {
    let descriptor = unsafe openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0, let status = try? FileStatus(descriptor: descriptor), status.isRegular else {
      if descriptor >= 0 { close(descriptor) }
      close(folder)
      return nil
    }
    (self.descriptor, size, self.isMoved, self.name, self.folder) = (descriptor, status.size, isMoved, name, folder)
  }

  deinit {
    close(descriptor)
    close(folder)
  }

  func remove() {
    unsafe unlinkat(folder, name, 0)
  }
}
