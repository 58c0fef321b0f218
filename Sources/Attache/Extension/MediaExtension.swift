internal import Crypto
internal import Synchronization

/// The service extension that attache ships: fetches the media that the payload names and attaches what was accepted.
public final class MediaExtension: ServiceExtension {
  /// What is delivered when time expires before every reference is decided.
  public enum ExpiryChoice: String, CaseIterable, Sendable {
    /// The original.
    case original
    /// The attachments that are ready, if any.
    case bestAttempt = "best-attempt"
  }

  fileprivate struct State {
    var answer: Answer?
    var content = NotificationContent()
    var references: [MediaReference] = []
    var tickets: [FetchTicket?] = []
    var files: [StoredFile?] = []
    var records: [MediaRecord?] = []
    var undecided = 0
  }

  public static let returnsAtOnce = true

  private let fetcher: MediaFetcher
  private let store: AttachmentStore
  private let maximumAttachments: Int
  private let onExpiry: ExpiryChoice
  private let state = Mutex(State())

  /// - Parameters:
  ///   - maximumAttachments: media references followed; what goes beyond is reported as `policy.attachments`.
  ///   - onExpiry: what is delivered when time expires.
  public init(fetcher: MediaFetcher, store: AttachmentStore, maximumAttachments: Int = 10, onExpiry: ExpiryChoice = .original) {
    self.fetcher = fetcher
    self.store = store
    self.maximumAttachments = maximumAttachments
    self.onExpiry = onExpiry
  }

  public func didReceive(_ request: NotificationRequest, answer: Answer) {
    let references = request.payload.references
    guard !references.isEmpty else {
      answer.offer(.original(nil))
      return
    }
    state.withLock { state in
      state.answer = answer
      state.content = request.content
      state.references = references
      state.tickets = Array(repeating: nil, count: references.count)
      state.files = state.tickets.map { _ in nil }
      state.records = state.tickets.map { _ in nil }
      state.undecided = references.count
    }
    // Decided meanwhile: who would have told this extension has done so already.
    guard !answer.isDecided else { return letGo(takeState()) }
    for (index, reference) in references.enumerated() { begin(index, reference, request.deadline) }
  }

  public func timeWillExpire() {
    let final = takeState()
    deliver(final, final.delivery(onExpiry: onExpiry))
  }

  public func cancel() {
    letGo(takeState())
  }

  private func begin(_ index: Int, _ reference: MediaReference, _ deadline: MonotonicInstant) {
    if let reason = index < maximumAttachments ? reference.refusal : .policyAttachments {
      return note(index, file: nil, MediaRecord(url: reference.url, reason: reason))
    }
    let ticket = fetcher.fetch(reference.url, deadline: deadline) { [self] result, record in
      note(index, file: try? result.get(), record)
    }
    let isOver = state.withLock { state in
      if state.answer != nil, state.records[index] == nil { state.tickets[index] = ticket }
      return state.answer == nil
    }
    if isOver { ticket.cancel() }
  }

  /// Takes one reference's result; the last one decides.
  private func note(_ index: Int, file: StoredFile?, _ record: MediaRecord) {
    let isLate = state.withLock { state in
      guard state.answer != nil else { return true }
      state.files[index] = file
      state.records[index] = record
      state.tickets[index] = nil
      state.undecided -= 1
      return false
    }
    if isLate {
      if let file { store.unpin(file) }
    } else if state.withLock({ $0.undecided == 0 }) {
      let final = takeState()
      deliver(final, final.delivery(onExpiry: onExpiry))
    }
  }

  /// Whoever takes the state decides; nothing is left for those who come later.
  private func takeState() -> State {
    state.withLock { state in
      let final = state
      state = State()
      return final
    }
  }

  private func deliver(_ final: State, _ delivery: Delivery) {
    guard let answer = final.answer else { return }
    let isDelivered = answer.offer(delivery) && delivery.content != nil
    for case let ticket? in final.tickets { ticket.cancel() }
    if !isDelivered { letGo(final) }
  }

  /// Lets go of the files that are not delivered.
  private func letGo(_ final: State) {
    for case let ticket? in final.tickets { ticket.cancel() }
    for case let file? in final.files { store.unpin(file) }
  }
}

extension MediaExtension.State {
  /// What is delivered with the files at hand.
  fileprivate func delivery(onExpiry: MediaExtension.ExpiryChoice) -> Delivery {
    let isExpired = undecided > 0
    let media = references.indices.map { index in
      records[index] ?? tickets[index]?.expired ?? MediaRecord(url: references[index].url, reason: .deadline)
    }
    let attachments = isExpired && onExpiry == .original ? [] : self.attachments
    guard !attachments.isEmpty else {
      return .original(isExpired ? .deadline : media.lazy.compactMap(\.reason).first ?? .internal, media: media)
    }
    var content = content
    content.attachments += attachments
    return .content(content, media: media)
  }

  private var attachments: [Attachment] {
    zip(references, files).compactMap { reference, file in
      file.map {
        Attachment(
          identifier: Self.identifier(of: reference), file: $0, source: reference.url,
          options: reference.options)
      }
    }
  }

  /// The reference's own; if that is none or the empty one, one that is the same for the same URL, so that a payload gives the same output
  /// whenever it is run.
  private static func identifier(of reference: MediaReference) -> String {
    if let identifier = reference.identifier, !identifier.isEmpty { return identifier }
    let digits = Array("0123456789abcdef".utf8)
    let hash = SHA256.hash(data: Array(reference.url.utf8)).prefix(8)
    return String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension FetchTicket {
  /// The record of a reference whose time is up.
  fileprivate var expired: MediaRecord {
    var record = record
    record.reason = .deadline
    return record
  }
}
