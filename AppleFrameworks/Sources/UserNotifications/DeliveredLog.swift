import Glibc
import Groundwork

/// The delivered notifications of all processes of a run, in a file to which each process appends a
/// line for each: JSON that says what happened.
///
/// A file of more than 1 MiB is renamed to `PATH.old`. The two files together have the newest
/// notifications, in at most about twice that size.
final class DeliveredLog: @unchecked Sendable {
  /// The most notifications that the centre shows.
  private static let maximumCount = 100
  private static let maximumBytes = 1 << 20

  private let path: String
  private let lock = NSLock()
  private var descriptor: Int32 = -1

  init(_ path: String) {
    self.path = path
  }

  /// Appends a line.
  ///
  /// - Parameter members: further members of the event, as JSON.
  func append(_ event: [String: Any], _ members: KeyValuePairs<String, Data> = [:]) {
    lock.withLock { write(event, members) }
  }

  private func write(_ event: [String: Any], _ members: KeyValuePairs<String, Data>) {
    guard var bytes = try? JSONSerialization.data(withJSONObject: event) else { return }
    for (name, json) in members {
      bytes.removeLast()
      bytes.append(contentsOf: #","\#(name)":"#.utf8)
      // A line feed in JSON is white space.
      bytes.append(json.contains(0x0A) ? Data(json.map { $0 == 0x0A ? 0x20 : $0 }) : json)
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(0x0A)
    if isUnusable { open() }
    _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Whether another file must be written: this one is long, or another process has replaced it twice.
  private var isUnusable: Bool {
    var status = stat()
    return descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_size > Self.maximumBytes || status.st_nlink == 0
  }

  private func open() {
    if descriptor >= 0 { close(descriptor) }
    // Two processes may find a long file at once, and the second must not rename the new one.
    let turn = Glibc.open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(turn) }
    flock(turn, LOCK_EX)
    var status = stat()
    if stat(path, &status) == 0, status.st_size > Self.maximumBytes { rename(path, path + ".old") }
    descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
  }

  /// The newest notifications, the newest last.
  var notifications: [UNNotification] {
    lock.withLock { read() }
  }

  private func read() -> [UNNotification] {
    var records: [(identifier: String, date: Double, payload: [String: Any])] = []
    for file in [path + ".old", path] {
      for line in ((try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data()).split(separator: 0x0A) {
        let event = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any] ?? [:]
        if let removed = event["removed"] as? [String] { records.removeAll { removed.contains($0.identifier) } }
        if event["all"] != nil { records = [] }
        guard let identifier = event["identifier"] as? String, let date = event["date"] as? Double else { continue }
        let payload = event["payload"] as? [String: Any] ?? [:]
        records.removeAll { $0.identifier == identifier }
        records.append((identifier, date, payload.applying(event["changes"] as? [String: Any] ?? [:])))
        if records.count > Self.maximumCount { records.removeFirst() }
      }
    }
    return records.map { record in
      let content = UNNotificationContent(ContentValues(payload: record.payload))
      let request = UNNotificationRequest(identifier: record.identifier, content: content, trigger: UNPushNotificationTrigger())
      return UNNotification(request: request, date: Date(timeIntervalSince1970: record.date))
    }
  }
}
