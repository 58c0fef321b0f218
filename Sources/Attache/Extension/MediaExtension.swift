internal import Synchronization

/// The service extension that is part of attache. It fetches the media that the payload names and
/// attaches those that were accepted.
public final class MediaExtension: ServiceExtension {
  /// What to deliver if time expires before every reference is decided.
  public enum ExpiryChoice: String, CaseIterable, Sendable {
    /// The original.
    case original
    /// The attachments that are ready, if any.
    case bestAttempt = "best-attempt"
  }

  fileprivate struct State {
    var answer: ExtensionReply?
    var content = NotificationContent()
    var references: [MediaReference] = []
    var tickets: [FetchTicket?] = []
    var files: [StoredFile?] = []
    var records: [MediaRecord?] = []
    /// For each reference, the records of the URLs that failed before the next fallback was tried.
    var failures: [Int: [MediaRecord]] = [:]
    /// The records of the references whose file is being uploaded.
    var uploading: [Int: MediaRecord] = [:]
    var undecided = 0
    var deadline = MonotonicInstant.distantPast
    /// The number of the payload for the fetcher; nil before the request and after its decision.
    var payload: UInt64?
  }

  /// The maximum number of URLs to try for one reference.
  static let maximumTries = 10

  public static let returnsAtOnce = true

  private let fetcher: MediaFetcher
  private let store: AttachmentStore
  private let maximumAttachments: Int
  private let onExpiry: ExpiryChoice
  private let uploader: UploadClient?
  private let uploadsPrivate: Bool
  private let state = Mutex(State())

  /// Creates an extension for one request.
  ///
  /// - Parameters:
  ///   - fetcher: fetches the media.
  ///   - store: the store that holds the fetched files.
  ///   - maximumAttachments: the maximum number of media references to follow. Further ones are
  ///     reported as `policy.attachments`.
  ///   - onExpiry: what to deliver if time expires.
  public convenience init(
    fetcher: MediaFetcher, store: AttachmentStore, maximumAttachments: Int = 10, onExpiry: ExpiryChoice = .original
  ) {
    self.init(fetcher: fetcher, store: store, maximumAttachments: maximumAttachments, onExpiry: onExpiry, uploader: nil)
  }

  /// Creates an extension that also publishes each file before it attaches it.
  ///
  /// - Parameters:
  ///   - uploader: publishes the files; with nil, they stay in the store.
  ///   - uploadsPrivate: whether to publish files that are private (``StoredFile/isPrivate``).
  package init(
    fetcher: MediaFetcher, store: AttachmentStore, maximumAttachments: Int, onExpiry: ExpiryChoice, uploader: UploadClient?,
    uploadsPrivate: Bool = false
  ) {
    self.fetcher = fetcher
    self.store = store
    self.maximumAttachments = maximumAttachments
    self.onExpiry = onExpiry
    self.uploader = uploader
    self.uploadsPrivate = uploadsPrivate
  }

  public func didReceive(_ request: NotificationRequest, answer: ExtensionReply) {
    let references = request.payload.references
    guard !references.isEmpty else {
      answer.offer(.original(nil))
      return
    }
    let payload = fetcher.beginPayload()
    state.withLock { state in
      state.answer = answer
      state.content = request.content
      state.references = references
      state.tickets = Array(repeating: nil, count: references.count)
      state.files = state.tickets.map { _ in nil }
      state.records = state.tickets.map { _ in nil }
      state.undecided = references.count
      state.deadline = request.deadline
      state.payload = payload
    }
    // The request was decided meanwhile, so `cancel()` may have run before this state was set.
    // Release the state here.
    guard !answer.isDecided else { return release(takeState()) }
    for (index, reference) in references.enumerated() { begin(index, reference, payload, request) }
  }

  public func timeWillExpire() {
    let final = takeState()
    deliver(final, final.delivery(onExpiry: onExpiry))
  }

  public func cancel() {
    release(takeState())
  }

  public func media(of request: NotificationRequest, endedBy reason: Reason) -> [MediaRecord] {
    let state = state.withLock { $0 }
    guard state.answer == nil else { return state.media(endedBy: reason) }
    return request.payload.references.enumerated().map { index, reference in
      MediaRecord(url: reference.url, reason: refusal(of: reference, at: index) ?? reason)
    }
  }

  /// What to do after a result.
  fileprivate enum Step {
    /// Discard the result, because the request is already decided.
    case drop
    case wait, decide
    case next(url: UntrustedText, try: Int, payload: UInt64, deadline: MonotonicInstant)
  }

  private func begin(_ index: Int, _ reference: MediaReference, _ payload: UInt64, _ request: NotificationRequest) {
    if let reason = refusal(of: reference, at: index) {
      var record = MediaRecord(url: reference.url, reason: reason)
      record.explanation = reference.misfit.map { $0.sentence(at: request.writtenPlace(of: $0.place)) }
      return note(index, file: nil, record, isFollowed: false)
    }
    fetch(index, reference.url, try: 0, payload, request.deadline)
  }

  /// Returns why a reference is not followed; nil if it is.
  private func refusal(of reference: MediaReference, at index: Int) -> Reason? {
    index < maximumAttachments ? reference.refusal : .policyAttachments
  }

  private func fetch(_ index: Int, _ url: UntrustedText, try number: Int, _ payload: UInt64, _ deadline: MonotonicInstant) {
    let ticket = fetcher.fetch(url.string, for: payload, deadline: deadline) { [self] result, record in
      if let uploader, case .success(let file) = result {
        publish(file, by: uploader, index, record, deadline)
      } else {
        note(index, file: try? result.get(), record)
      }
    }
    let isOver = state.withLock { state in
      if state.answer != nil, state.records[index] == nil, state.tries(of: index) == number { state.tickets[index] = ticket }
      return state.answer == nil
    }
    if isOver { ticket.cancel() }
  }

  /// Publishes the file of a reference, whose result is then known.
  private func publish(
    _ file: StoredFile, by uploader: UploadClient, _ index: Int, _ record: MediaRecord, _ deadline: MonotonicInstant
  ) {
    guard uploadsPrivate || !file.isPrivate else {
      store.unpin(file)
      return note(index, file: nil, record.failed(.uploadPrivate, "the file is private (--upload-private publishes it)"))
    }
    let isOpen = state.withLock { state in
      if state.answer != nil { state.uploading[index] = record }
      return state.answer != nil
    }
    guard isOpen else { return store.unpin(file) }
    uploader.upload(file, deadline: deadline) { [self] result in
      switch result {
      case .published: note(index, file: file, record)
      case .failed(let reason, let explanation):
        store.unpin(file)
        note(index, file: nil, record.failed(reason, explanation), isFollowed: false)
      }
    }
  }

  /// Handles the result of one reference's URL. After a failure, the reference's next URL is tried.
  /// The last of all results decides the request.
  private func note(_ index: Int, file: StoredFile?, _ record: MediaRecord, isFollowed: Bool = true) {
    let step = state.withLock { state -> Step in
      guard state.answer != nil else { return .drop }
      if file == nil, isFollowed, let next = state.failOver(index, record) { return next }
      state.files[index] = file
      state.records[index] = record
      state.uploading[index] = nil
      state.tickets[index] = nil
      state.undecided -= 1
      return state.undecided == 0 ? .decide : .wait
    }
    switch step {
    case .drop: if let file { store.unpin(file) }
    case .wait: break
    case .next(let url, let number, let payload, let deadline): fetch(index, url, try: number, payload, deadline)
    case .decide:
      let final = takeState()
      deliver(final, final.delivery(onExpiry: onExpiry))
    }
  }

  /// Takes the state. The caller that gets it decides the request; later callers get an empty
  /// state.
  private func takeState() -> State {
    var taken = State()
    state.withLock { swap(&$0, &taken) }
    // Before the decision, which may give the payload's place to another.
    if let payload = taken.payload { fetcher.end(payload) }
    return taken
  }

  private func deliver(_ final: State, _ delivery: ExtensionResult) {
    guard let answer = final.answer else { return }
    let isDelivered = answer.offer(delivery) && delivery.content != nil
    for case let ticket? in final.tickets { ticket.cancel() }
    if !isDelivered { release(final) }
  }

  /// Cancels the fetches and unpins the files that are not delivered.
  private func release(_ final: State) {
    for case let ticket? in final.tickets { ticket.cancel() }
    for case let file? in final.files { store.unpin(file) }
  }
}

extension MediaExtension.State {
  /// Returns the number of URLs of a reference that failed and were replaced by the next.
  fileprivate func tries(of index: Int) -> Int {
    failures.isEmpty ? 0 : failures[index]?.count ?? 0
  }

  /// Returns the URL of a reference that is being tried or was tried last.
  fileprivate func url(of index: Int) -> UntrustedText {
    let tries = tries(of: index)
    return tries == 0 ? references[index].url : references[index].fallbacks[tries - 1]
  }

  /// Switches a reference to its next URL, if it has one and the failure was neither the deadline
  /// nor a cancellation.
  fileprivate mutating func failOver(_ index: Int, _ record: MediaRecord) -> MediaExtension.Step? {
    let (fallbacks, tries) = (references[index].fallbacks, tries(of: index))
    guard tries < min(fallbacks.count, MediaExtension.maximumTries - 1) else { return nil }
    guard let payload, let reason = record.reason, reason != .deadline, reason != .cancelled else { return nil }
    failures[index, default: []].append(record)
    tickets[index] = nil
    return .next(url: fallbacks[tries], try: tries + 1, payload: payload, deadline: deadline)
  }

  /// Returns the records of all URLs that were tried, with `reason` for the references that have no
  /// result.
  fileprivate func media(endedBy reason: Reason) -> [MediaRecord] {
    let media = references.indices.map { index in
      records[index] ?? uploading[index]?.unpublished(reason) ?? tickets[index]?.record(endedBy: reason)
        ?? MediaRecord(url: url(of: index), reason: reason)
    }
    return failures.isEmpty ? media : zip(media.indices, media).flatMap { (failures[$0] ?? []) + [$1] }
  }

  /// Returns the result with the files that are ready.
  fileprivate func delivery(onExpiry: MediaExtension.ExpiryChoice) -> ExtensionResult {
    let isExpired = undecided > 0
    let media = media(endedBy: .deadline)
    let attachments = isExpired && onExpiry == .original ? [] : self.attachments
    guard !attachments.isEmpty else {
      let reasons = media.lazy.compactMap(\.reason)
      return .original(isExpired && reasons.contains(.deadline) ? .deadline : reasons.first ?? .internal, media: media)
    }
    var content = content
    content.attachments += attachments
    return .content(content, media: media)
  }

  private var attachments: [Attachment] {
    references.indices.compactMap { index in
      files[index].map {
        let reference = references[index]
        return Attachment(
          identifier: Self.identifier(of: reference), file: $0, source: url(of: index),
          options: reference.options)
      }
    }
  }

  /// Returns the reference's own identifier. If it is missing or empty, returns one derived from
  /// the URL, so that a payload gives the same output in every run.
  private static func identifier(of reference: MediaReference) -> UntrustedText {
    if let identifier = reference.identifier, !identifier.isEmpty { return identifier }
    return UntrustedText(SHA256.hash(Array(reference.url.utf8)).hexadecimal(8))
  }
}
