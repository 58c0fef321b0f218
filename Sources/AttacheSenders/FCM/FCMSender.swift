internal import Attache
public import AttacheQueue
internal import Synchronization

/// Sends results to Google's Firebase Cloud Messaging, with its HTTP v1 API.
///
/// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
public final class FCMSender: Sender {
  private struct State {
    let maker: FCMRequestMaker
    weak var owner: (any SenderOwner)?
    var hasWarned = false
    /// Whether the user was told that Google cannot reach another push service.
    var hasToldOfOtherService = false
    var mismatches = SenderMismatches()
  }

  /// The shortest pause after an answer that the quota is used up, without Retry-After.
  ///
  /// Source: https://firebase.google.com/docs/cloud-messaging/scale-fcm
  private static let quotaPause = Duration.seconds(60)

  private let configuration: FCMConfiguration
  private let client: FCMClient
  private let invalidTokens: InvalidTokenFile?
  private let state: Mutex<State>

  /// Opens the file of invalid tokens. Does not connect.
  ///
  /// - Throws: ``SenderSetupError`` when a file cannot be used or there is no memory.
  public init(_ configuration: FCMConfiguration) throws(SenderSetupError) {
    self.configuration = configuration
    do throws(SystemError) {
      invalidTokens = try configuration.invalidTokens.map { path throws(SystemError) in try InvalidTokenFile(path) }
    } catch {
      throw SenderSetupError("the file of --invalid-tokens cannot be written: \(error)")
    }
    do throws(HTTPSenderError) {
      client = try FCMClient(configuration)
    } catch {
      throw SenderSetupError("\(error)")
    }
    state = Mutex(State(maker: FCMRequestMaker(outputKey: configuration.outputKey)))
  }

  public func start(_ owner: any SenderOwner) {
    state.withLock { $0.owner = owner }
    client.start { [weak self] ends in self?.take(ends) }
  }

  public func send(_ deliveries: [Delivery]) {
    // Make the requests on the client's thread: the deliverer's thread can query the queue
    // meanwhile.
    client.perform { [self] in make(deliveries) }
  }

  public func cancel() { client.cancel() }
  public func close() { client.close() }

  private func make(_ deliveries: [Delivery]) {
    var requests: [FCMRequest] = []
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    let (owner, warns) = state.withLock { state in
      for delivery in deliveries {
        switch state.maker.make(delivery) {
        case .request(let request): requests.append(request)
        case .nothing(let why): answers.append((delivery.token, .dropped(reason: why)))
        }
      }
      let warns = state.maker.hasLostMedia && !state.hasWarned
      if warns { state.hasWarned = true }
      return (state.owner, warns)
    }
    if warns {
      owner?.notify(
        "attachments have file: URLs, which no device can load, so attache does not send the member \(configuration.outputKey); "
          + "publish the store, and process the queue with --base-url")
    }
    client.send(requests)
    if !answers.isEmpty { owner?.take(answers) }
  }

  private func take(_ ends: [(request: FCMRequest, end: RequestEnd<FCMReply>)]) {
    let owner = state.withLock(\.owner)
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    answers.reserveCapacity(ends.count)
    for (request, end) in ends {
      let answer: DeliveryAnswer =
        switch end {
        case .answered(let reply): self.answer(request, reply, owner)
        case .lost(let why): .retry(after: nil, reason: why)
        case .unusable(let why), .refused(let why): .refused(reason: why)
        case .unanswered: .unanswered
        }
      answers.append((request.token, answer))
    }
    owner?.take(answers)
  }

  private func answer(_ request: FCMRequest, _ reply: FCMReply, _ owner: (any SenderOwner)?) -> DeliveryAnswer {
    let verdict = FCMVerdict.of(reply)
    let text = verdict.text(of: reply)
    switch verdict.consequence {
    case .delivered:
      if request.deviceToken != nil { state.withLock { $0.mismatches.noteAcceptance() } }
      return .delivered(status: String(reply.status))
    case .invalidToken:
      if let token = request.deviceToken { invalidTokens?.add(token, reason: reply.errorCode ?? reply.name, owner: owner) }
      return .dropped(reason: text)
    case .otherSender:
      guard let token = request.deviceToken else { return .rejected(reason: text) }
      switch state.withLock({ $0.mismatches.note(request.token.id, token) }) {
      case .doubted: return .retry(after: nil, reason: text)
      case .ofAll: return .refused(reason: text)
      case .atFault:
        invalidTokens?.add(token, reason: "SENDER_ID_MISMATCH", owner: owner)
        return .dropped(reason: text)
      }
    case .dropped: return .dropped(reason: text)
    case .overQuota:
      owner?.slowDown()
      return .retry(after: reply.retryAfter ?? Self.quotaPause, reason: text)
    case .otherService:
      let isFirst = state.withLock { state in
        defer { state.hasToldOfOtherService = true }
        return !state.hasToldOfOtherService
      }
      if isFirst { owner?.notify(text) }
      return .retry(after: reply.retryAfter, reason: text)
    case .retry: return .retry(after: reply.retryAfter, reason: text)
    case .rejected: return .rejected(reason: text)
    // The first arrives here only when a new access token has not helped.
    case .renewToken, .refused: return .refused(reason: text)
    }
  }
}
