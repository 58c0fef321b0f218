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
  private var answered: (content: UNNotificationContent, changes: Data?, attachments: [String])?

  init(
    _ number: UInt64, _ request: UNNotificationRequest, _ payload: Data, _ given: ContentValues, _ instance: UNNotificationServiceExtension
  ) {
    (self.number, self.request, self.payload, self.given, self.instance) = (number, request, payload, given, instance)
    observed = instance
    queue = DispatchQueue(label: "attache.request.\(number)")
  }

  func begin() {
    queue.async { [self] in
      HostLink.send(.began, request: number)
      current?.didReceive(request) { [self] content in answer(content) }
      HostLink.send(.returned, request: number)
    }
  }

  /// Calls the expiry method, on a thread of its own: the instance's queue may be blocked.
  func expire() {
    Thread.detachNewThread { [self] in
      current?.serviceExtensionTimeWillExpire()
      HostLink.send(.expired, request: number)
    }
  }

  private var current: UNNotificationServiceExtension? {
    lock.withLock { instance }
  }

  /// Copies the content at once: the extension may change it later.
  private func answer(_ content: UNNotificationContent) {
    let values = content.values
    let changes = Self.json(values.changes(from: given))
    let attachments = values.attachments.map { attachment -> [String: Any] in
      [
        "identifier": attachment.identifier, "path": attachment.url.path, "type": attachment.type, "size": attachment.size,
        "options": attachment.options,
      ]
    }
    let attached = attachments.isEmpty ? Data("[]".utf8) : HostLink.json(attachments)
    let call = lock.withLock {
      calls += 1
      if calls == 1 { answered = (content, changes, values.attachments.map(\.identifier)) }
      return calls
    }
    // Recorded first: the host may send the next request once it has the answer, and that may end this process.
    if call == 1 {
      UNUserNotificationCenter.current().deliver(request.identifier, payload: payload, changes: changes ?? Data("{}".utf8))
    }
    if !Self.send(number, call, changes, attached) {
      HostLink.send(.unreadable, ["request": number, "why": "its content is longer than a megabyte, or JSON cannot hold it"])
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
        now.attachments.map(\.identifier) != answered.attachments || Self.json(now.changes(from: given)) != answered.changes
    }
    UserDefaults.synchronizeAll()
    HostLink.send(.finished, json: Data(#"{"isAlive":\#(observed != nil),"isChangedAfter":\#(isChanged),"request":\#(number)}"#.utf8))
  }

  /// - Returns: false if no frame can hold the answer.
  private static func send(_ number: UInt64, _ call: Int, _ changes: Data?, _ attachments: Data?) -> Bool {
    guard let changes, let attachments else { return false }
    var answer = Data(#"{"attachments":"#.utf8)
    answer.append(attachments)
    answer.append(contentsOf: #","call":\#(call),"changes":"#.utf8)
    answer.append(changes)
    answer.append(contentsOf: #","request":\#(number)}"#.utf8)
    return HostLink.send(.answer, json: answer)
  }

  private static func json(_ changes: [String: Any]) -> Data? {
    changes.isEmpty ? Data("{}".utf8) : HostLink.json(changes)
  }
}
