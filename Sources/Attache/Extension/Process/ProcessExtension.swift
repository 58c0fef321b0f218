internal import Synchronization

/// A user's service extension, which runs in a process of its own.
package final class ProcessExtension: ServiceExtension {
  package static let returnsAtOnce = true
  /// The process answers after the notice, if at all.
  package static let answersAtExpiry = false

  private let program: ExtensionProgram
  private let call = Mutex<ExtensionCall?>(nil)
  private let isExpiring = Atomic<Bool>(false)

  package init(_ program: ExtensionProgram) {
    self.program = program
  }

  package func didReceive(_ request: NotificationRequest, answer: ExtensionReply) {
    guard request.payload.wakesExtension else {
      answer.offer(.original(nil))
      return
    }
    let program = program
    let call = program.processes.call(identifier: Self.identifier(of: request), payload: request.json) { [self] end in
      switch end {
      case .failed(let reason): answer.offer(.original(reason))
      case .answered(let given, let transfers):
        program.accept(given, transfers, for: request, answer, isLate: isExpiring.load(ordering: .acquiring))
      }
    }
    self.call.withLock { $0 = call }
  }

  /// Returns the identifier that iOS gives a request: its `apns-collapse-id`, or a UUID.
  private static func identifier(of request: NotificationRequest) -> String {
    if let collapseID = request.collapseID, !collapseID.isEmpty { return collapseID.string }
    let digits = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)].map { word in
      let digits = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    var identifier = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { identifier += "-" }
      identifier.append(digit)
    }
    return identifier
  }

  package func timeWillExpire() {
    isExpiring.store(true, ordering: .releasing)
    if let call = call.withLock({ $0 }) { program.processes.expire(call) }
  }

  package func cancel() {
    if let call = call.withLock({ $0 }) { program.processes.finish(call) }
  }
}

/// The program of an iOS service extension that `attache extension build` has built, with its
/// processes. Whatever the extension does, each request is decided in time.
public final class ExtensionProgram: Sendable {
  /// The most transfers of a notification that the report has: an extension may make any number.
  private static let maximumRecords = 10

  package let processes: ExtensionProcesses
  private let intake: AttachmentIntake
  private let store: AttachmentStore
  private let uploader: UploadClient?

  /// Starts a process, and the threads that look after the processes and their files.
  ///
  /// - Parameters:
  ///   - limits: the limits of attachments.
  ///   - conversion: how pictures are converted; nil leaves them as they are.
  ///   - uploader: publishes the files; nil leaves them in the store.
  /// - Throws: an error that tells the user what is missing.
  package init(
    _ configuration: ExtensionProcesses.Configuration, store: AttachmentStore, limits: MediaLimits, conversion: Conversion?,
    uploader: UploadClient?, warn: @escaping @Sendable (String) -> Void
  ) throws {
    processes = try ExtensionProcesses(configuration, warn: warn)
    let bundle = configuration.program.lastIndex(of: "/").map { String(configuration.program[..<$0]) } ?? "."
    intake = try AttachmentIntake(store: store, limits: limits, conversion: conversion, folder: processes.folder, bundle: bundle)
    (self.store, self.uploader) = (store, uploader)
    processes.prepare()
  }

  /// Creates an extension that serves one request in one of the processes. Pass it to the host:
  /// `ServiceExtensionHost(clock: clock, grace: grace) { program.makeExtension() }`.
  public func makeExtension() -> any ServiceExtension {
    ProcessExtension(self)
  }

  /// Ends the processes. Call it once, when no request is served any more.
  public func shutdown() {
    processes.shutdown()
    intake.shutdown()
  }

  /// Offers what the extension has answered, with the attachments that pass the checks.
  ///
  /// - Parameter isLate: whether the extension was told before that time will expire.
  fileprivate func accept(
    _ given: ExtensionAnswer, _ transfers: [ExtensionTransfer], for request: NotificationRequest, _ answer: ExtensionReply, isLate: Bool
  ) {
    guard !given.attachments.isEmpty else {
      let records = transfers.compactMap { $0.failedRecord(isLate: isLate) }.prefix(Self.maximumRecords)
      return offer(given, [], Array(records), for: request, answer, isLate: isLate)
    }
    intake.take(given.attachments, until: request.deadline) { [self] results in
      var attachments: [Attachment] = []
      var records: [MediaRecord] = []
      for (attachment, result) in zip(given.attachments, results) {
        let transfer = Self.transfer(of: result, transfers)
        var record = MediaRecord(url: transfer?.url ?? attachment.path, status: transfer?.status)
        switch result.file {
        case .success(let file):
          (record.type, record.bytes, record.attempts) = (file.type, result.bytes, transfer == nil ? 0 : 1)
          record.converted = file.conversion
          attachments.append(
            Attachment(
              identifier: attachment.identifier, file: file, source: transfer?.url ?? UntrustedText(""), options: attachment.options))
        case .failure(let failure):
          record.bytes = transfer?.bytes ?? 0
          record = record.failed(failure.reason, failure.message)
        }
        records.append(record)
      }
      publish(attachments, until: request.deadline) { [self, records] attachments, failures in
        let records = records.map { record in
          failures.first { $0.url == record.url }.map { record.failed($0.reason, $0.message ?? $0.reason.advice) } ?? record
        }
        offer(given, attachments, records, for: request, answer, isLate: isLate)
      }
    }
  }

  /// Returns the transfer that an attachment's bytes came from: the last with as many bytes.
  private static func transfer(of result: AttachmentIntake.Taken, _ transfers: [ExtensionTransfer]) -> ExtensionTransfer? {
    switch result.file {
    case .success: transfers.last { $0.bytes == result.bytes && $0.code == 0 } ?? transfers.last { $0.status == 200 }
    case .failure: transfers.last
    }
  }

  /// Why a file could not be published.
  private struct UploadFailure: Sendable {
    var url: UntrustedText
    var reason: Reason
    var message: String?
  }

  /// Publishes files one after another.
  ///
  /// - Parameter done: receives the attachments that are published, and the failures of the others.
  private func publish(
    _ attachments: [Attachment], until deadline: MonotonicInstant, _ done: @escaping @Sendable ([Attachment], [UploadFailure]) -> Void
  ) {
    publish(attachments[...], [], [], until: deadline, done)
  }

  private func publish(
    _ rest: ArraySlice<Attachment>, _ published: [Attachment], _ failures: [UploadFailure], until deadline: MonotonicInstant,
    _ done: @escaping @Sendable ([Attachment], [UploadFailure]) -> Void
  ) {
    guard let uploader, let next = rest.first else { return done(published + rest, failures) }
    uploader.upload(next.file, deadline: deadline) { [self] result in
      switch result {
      case .published: publish(rest.dropFirst(), published + [next], failures, until: deadline, done)
      case .failed(let reason, let explanation):
        store.unpin(next.file)
        let failure = UploadFailure(url: next.source, reason: reason, message: explanation)
        publish(rest.dropFirst(), published, failures + [failure], until: deadline, done)
      }
    }
  }

  private func offer(
    _ given: ExtensionAnswer, _ attachments: [Attachment], _ records: [MediaRecord], for request: NotificationRequest,
    _ answer: ExtensionReply, isLate: Bool
  ) {
    var content = request.content
    content.attachments = attachments
    if !given.changes.isEmpty || !given.userInfo.isEmpty { content.apply(given) }
    let isOriginal = attachments.isEmpty && !content.hasChanges
    let reason = isOriginal ? records.compactMap(\.reason).first ?? (isLate ? .deadline : nil) : nil
    let isTaken = answer.offer(isOriginal ? .original(reason, media: records) : .content(content, media: records))
    if !isTaken || isOriginal {
      for attachment in attachments { store.unpin(attachment.file) }
    }
  }
}

extension NotificationContent {
  /// Applies the changes of a service extension's process.
  mutating func apply(_ given: ExtensionAnswer) {
    for change in given.changes {
      let text = change.text
      switch change.name.string {
      case "title": title = text ?? ""
      case "subtitle": subtitle = text ?? ""
      case "body": body = text ?? ""
      case "category": categoryIdentifier = text ?? ""
      case "thread-id": threadIdentifier = text ?? ""
      case "badge": badge = change.source.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
      case "sound" where change.source == nil || text != nil: sound = text
      case "sound", "interruption-level", "relevance-score", "target-content-id", "filter-criteria": members.aps.append(change)
      // iOS shows no other member of the alert. The process is not trusted: unknown names are ignored.
      default: break
      }
    }
    // The property copies the dictionary.
    var userInfo = userInfo
    for change in given.userInfo {
      let old = userInfo[change.name].map { JSONText($0) }
      userInfo[change.name] = change.source.map { new in old?.merged(with: JSONText(new)) ?? new }
    }
    self.userInfo = userInfo
  }
}
