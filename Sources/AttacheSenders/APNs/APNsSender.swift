internal import Attache
public import AttacheQueue
internal import Synchronization

/// Sends results to Apple's push service.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
public final class APNsSender: Sender {
  private struct State {
    let maker: PushRequestMaker
    var client: PushClient?
    weak var owner: (any SenderOwner)?
    var hasWarned = false
    /// The number of device tokens that Apple called bad before it accepted any; nil once it has
    /// accepted one, or the user was told.
    var badTokens: Int? = 0
  }

  /// This many bad device tokens, and no good one, probably mean the wrong environment.
  private static let suspiciousTokens = 10

  private let configuration: APNsConfiguration
  private let invalidTokens: InvalidTokenFile?
  private let state: Mutex<State>

  /// Opens the file of invalid tokens. Does not connect.
  ///
  /// - Throws: ``SenderSetupError`` when the file cannot be opened or there is no memory.
  public init(_ configuration: APNsConfiguration) throws(SenderSetupError) {
    self.configuration = configuration
    let maker = PushRequestMaker(configuration)
    do throws(SystemError) {
      try maker.checkMemory()
    } catch {
      throw SenderSetupError("\(error)")
    }
    do throws(SystemError) {
      invalidTokens = try configuration.invalidTokens.map { path throws(SystemError) in try InvalidTokenFile(path) }
    } catch {
      throw SenderSetupError("the file of --invalid-tokens cannot be written: \(error)")
    }
    state = Mutex(State(maker: maker))
  }

  public func start(_ owner: any SenderOwner) throws {
    let client = try PushClient(configuration, owner: self)
    state.withLock { state in
      state.owner = owner
      state.client = client
    }
  }

  public func send(_ deliveries: [Delivery]) {
    guard let client = state.withLock(\.client) else { return }
    // Make the requests on the client's thread: the deliverer's thread can query the queue
    // meanwhile.
    client.perform { [self] in make(deliveries, client) }
  }

  private func make(_ deliveries: [Delivery], _ client: PushClient) {
    var requests: [PushRequest] = []
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    let (owner, warns) = state.withLock { state in
      for delivery in deliveries {
        switch state.maker.make(delivery) {
        case .request(let request): requests.append(request)
        case .answer(let answer): answers.append((delivery.token, answer))
        }
      }
      let warns = state.maker.hasLostMedia && !state.hasWarned
      if warns { state.hasWarned = true }
      return (state.owner, warns)
    }
    if warns { owner?.notify(warning) }
    if !requests.isEmpty { client.send(requests) }
    if !answers.isEmpty { owner?.take(answers) }
  }

  public func cancel() {
    state.withLock(\.client)?.cancel()
  }

  public func close() {
    state.withLock(\.client)?.close()
  }

  private var warning: String {
    "attachments have file: URLs, which no device can load, so attache does not send the member \(configuration.outputKey); "
      + "publish the store, and process the queue with --base-url"
  }
}

extension APNsSender: PushClientOwner {
  package func take(_ ends: [(request: PushRequest, end: RequestEnd<APNsReply>)]) {
    let owner = state.withLock(\.owner)
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    answers.reserveCapacity(ends.count)
    for (request, end) in ends {
      let answer: DeliveryAnswer =
        switch end {
        case .answered(let reply): self.answer(request, reply)
        case .lost(let why): .retry(after: nil, reason: why)
        case .unusable(let why), .refused(let why): .refused(reason: why)
        case .unanswered: .unanswered
        }
      answers.append((request.token, answer))
    }
    owner?.take(answers)
  }

  package func notify(_ notice: String) {
    state.withLock(\.owner)?.notify(notice)
  }

  package func reconnected() {
    state.withLock(\.owner)?.restarted()
  }

  private func answer(_ request: PushRequest, _ reply: APNsReply) -> DeliveryAnswer {
    let verdict = APNsVerdict.of(reply)
    let text = verdict.text(of: reply)
    switch verdict.consequence {
    case .delivered:
      if request.deviceToken != nil { state.withLock { $0.badTokens = nil } }
      return .delivered(status: String(reply.status))
    case .invalidToken:
      if let token = request.deviceToken {
        let owner = state.withLock(\.owner)
        invalidTokens?.add(token, reason: reply.reason ?? String(reply.status), timestamp: reply.timestamp, owner: owner)
      }
      suspect(reply)
      return .dropped(reason: text)
    case .dropped: return .dropped(reason: text)
    case .refusedTopic: return request.hasOwnTopic ? .dropped(reason: text) : .refused(reason: text)
    case .retry: return .retry(after: reply.retryAfter, reason: text)
    // This answer arrives here only when a new token has not helped.
    case .renewToken, .refused: return .refused(reason: text)
    }
  }

  /// Warns the user, once, when every device token so far was bad.
  private func suspect(_ reply: APNsReply) {
    guard reply.reason == "BadDeviceToken" else { return }
    let owner = state.withLock { state -> (any SenderOwner)? in
      guard let count = state.badTokens else { return nil }
      state.badTokens = count + 1 < Self.suspiciousTokens ? count + 1 : nil
      return state.badTokens == nil ? state.owner : nil
    }
    owner?.notify(
      "Apple rejects each of the first \(Self.suspiciousTokens) device tokens as invalid; check that they belong to this environment (--apns-sandbox)"
    )
  }
}
