internal import Attache

/// Writes each result as a file with its record beside it, `17-cat.json` and `17-cat.json.record`,
/// under the payload's number and the name of the file that it comes from.
///
/// Files are written completely beside the folder, in `NAME.writing`, and get their names by a rename,
/// the record first. So no incomplete file is visible, and a result that is delivered again replaces
/// the same files. Another queue would use the same numbers, so it is refused (``FolderOwner``).
public final class FolderSender: Sender {
  private static let recordEnding = ".record"

  private let folder: QueueFolder
  private let writing: FileName
  private let isSynced: Bool
  private let wakeSignal: EventFD
  private let thread: SenderThread

  /// - Parameters:
  ///   - path: the folder, which must exist.
  ///   - queue: the queue that is delivered.
  ///   - address: its address for people.
  ///   - sync: with `off`, a power failure may lose files of results that count as delivered.
  /// - Throws: ``QueueError`` when the folder cannot be opened or has the results of another queue, or
  ///   no descriptor is available.
  public init(_ path: String, queue: some QueueHandle, address: String, sync: SyncChoice) throws(QueueError) {
    let folder = try QueueFolder(at: path)
    try FolderOwner(folder, .outward, queue, address: address).exclusively(refusing: { Self.refusal(of: folder, $0) }, {})
    self.folder = folder
    writing = folder.name.appending(".writing")
    isSynced = sync != .off
    let wakeSignal: EventFD
    do throws(SystemError) { wakeSignal = try EventFD() } catch { throw .system(error) }
    self.wakeSignal = wakeSignal
    thread = SenderThread { wakeSignal.ring() }
  }

  private static func refusal(of folder: QueueFolder, _ other: FolderOwner.Other) -> QueueError {
    let fault =
      other.direction == .inward
      ? "its files go into \(other.address), as its results would" : "has results of \(other.address), whose names this queue would use too"
    return .unavailable("\(folder.folderPath): \(fault); choose another folder, or remove \(other.path)")
  }

  public var wantsFiles: Bool { true }

  public func start(_ owner: any SenderOwner) throws {
    try thread.start { [self] in run(owner) }
  }

  public func send(_ deliveries: [Delivery]) { thread.send(deliveries) }
  public func cancel() { thread.cancel() }
  public func close() { thread.close() }

  private func run(_ owner: any SenderOwner) {
    while true {
      let news = thread.take()
      if !news.deliveries.isEmpty {
        owner.take(news.isCancelled ? news.deliveries.map { ($0.token, .unanswered) } : write(news.deliveries))
      }
      if news.isClosed { return }
      wakeSignal.wait(until: nil)
    }
  }

  /// Writes the files of results. A result that cannot get its name is tried later; without room, none
  /// is written.
  private func write(_ deliveries: [Delivery]) -> [(token: LeaseToken, answer: DeliveryAnswer)] {
    do throws(QueueError) {
      try folder.checkPresence()
      for delivery in deliveries {
        try folder.write(delivery.record, to: unfinished(delivery, Self.recordEnding))
        try folder.write(delivery.line, to: unfinished(delivery))
      }
      // The content of a file is on disk before its name is.
      if isSynced { try folder.sync() }
      let answers = deliveries.map { delivery in (token: delivery.token, answer: named(delivery)) }
      if isSynced { try folder.sync() }
      return answers
    } catch {
      return deliveries.map { ($0.token, .refused(reason: "\(error)")) }
    }
  }

  private func named(_ delivery: Delivery) -> DeliveryAnswer {
    // Whoever may write the queue's tables chooses the name there.
    let kept = delivery.name.map { "-" + DropName.kept(of: FileName($0)) } ?? ""
    let name = FileName("\(delivery.token.id)\(kept)").inside(folder.name)
    do throws(QueueError) {
      for ending in [Self.recordEnding, ""] { try folder.move(unfinished(delivery, ending), to: name.appending(ending)) }
      return .delivered()
    } catch {
      return .retry(after: nil, reason: "\(error)")
    }
  }

  private func unfinished(_ delivery: Delivery, _ ending: String = "") -> FileName {
    writing.appending("/\(delivery.token.id)\(ending)")
  }
}
