import Groundwork
import UserNotifications

/// Serves the host's requests.
final class ExtensionServer: @unchecked Sendable {
  private let make: @Sendable () -> UNNotificationServiceExtension
  private let lock = NSLock()
  private var requests: [UInt64: ServedRequest] = [:]
  /// The instance that serves all requests, if the host wants one for all.
  private var reused: UNNotificationServiceExtension?

  init(_ make: @escaping @Sendable () -> UNNotificationServiceExtension) {
    self.make = make
  }

  func take(_ frame: HostFrame) {
    switch frame {
    case .request(let number, let isReused, let identifier, let payload): begin(number, isReused, identifier, payload)
    case .expire(let number): request(number)?.expire()
    case .finish(let number): finish(number)
    case .settings, .stop: break
    }
  }

  private func begin(_ number: UInt64, _ isReused: Bool, _ identifier: String, _ payload: Data) {
    let values = ContentValues(payload: (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any] ?? [:])
    let content = UNMutableNotificationContent(values)
    let request = UNNotificationRequest(identifier: identifier, content: content, trigger: UNPushNotificationTrigger())
    let instance = isReused ? reused ?? make() : make()
    if isReused { reused = instance }
    let served = ServedRequest(number, request, payload, values, instance)
    lock.withLock { requests[number] = served }
    served.begin()
  }

  private func request(_ number: UInt64) -> ServedRequest? {
    lock.withLock { requests[number] }
  }

  private func finish(_ number: UInt64) {
    guard let request = lock.withLock({ requests.removeValue(forKey: number) }) else { return }
    request.finish()
  }
}

/// A request that an instance serves.
private final class ServedRequest: @unchecked Sendable {
  private let number: UInt64
  private let request: UNNotificationRequest
  private let payload: Data
  private let given: ContentValues
  private let queue: DispatchQueue
  private let lock = NSLock()
  /// The instance, until it has answered.
  private var instance: UNNotificationServiceExtension?
  private weak var observed: UNNotificationServiceExtension?
  private var calls = 0
  /// The object of the first answer, and its changes at that time.
  private var answered: (content: UNNotificationContent, changes: Data, attachments: [String])?

  init(
    _ number: UInt64, _ request: UNNotificationRequest, _ payload: Data, _ given: ContentValues, _ instance: UNNotificationServiceExtension
  ) {
    (self.number, self.request, self.payload, self.given, self.instance) = (number, request, payload, given, instance)
    observed = instance
    queue = DispatchQueue(label: "attache.request.\(number)")
  }

  func begin() {
    queue.async { [self] in
      HostLink.send(.began, ["request": number])
      current?.didReceive(request) { [self] content in answer(content) }
      HostLink.send(.returned, ["request": number])
    }
  }

  /// Calls the expiry method, on a thread of its own: the instance's queue may be blocked.
  func expire() {
    Thread.detachNewThread { [self] in
      current?.serviceExtensionTimeWillExpire()
      HostLink.send(.expired, ["request": number])
    }
  }

  private var current: UNNotificationServiceExtension? {
    lock.withLock { instance }
  }

  /// Copies the content at once: the extension may change it later.
  private func answer(_ content: UNNotificationContent) {
    let values = content.values
    let changes = values.changes(from: given)
    let attachments = values.attachments.map { attachment -> [String: Any] in
      [
        "identifier": attachment.identifier, "path": attachment.url.path, "type": attachment.type, "size": attachment.size,
        "options": attachment.options,
      ]
    }
    let call = lock.withLock {
      calls += 1
      if calls == 1 { answered = (content, Self.text(changes), values.attachments.map(\.identifier)) }
      return calls
    }
    let send = { [number] in
      let answer: [String: Any] = ["request": number, "call": call, "changes": changes, "attachments": attachments]
      if !HostLink.send(.answer, answer) {
        HostLink.send(.unreadable, ["request": number, "why": "its content is longer than a megabyte, or JSON cannot hold it"])
      }
    }
    if call == 1 {
      UNUserNotificationCenter.current().deliver(request.identifier, payload: payload, changes: changes, after: send)
    } else {
      send()
    }
    lock.withLock { instance = nil }
  }

  func finish() {
    let answered = lock.withLock {
      instance = nil
      return self.answered.take()
    }
    var isChanged = false
    if let answered {
      let now = answered.content.values
      isChanged =
        now.attachments.map(\.identifier) != answered.attachments || Self.text(now.changes(from: given)) != answered.changes
    }
    UserDefaults.synchronizeAll()
    HostLink.send(.finished, ["request": number, "isAlive": observed != nil, "isChangedAfter": isChanged])
  }

  private static func text(_ changes: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: changes, options: .sortedKeys)) ?? Data()
  }
}
