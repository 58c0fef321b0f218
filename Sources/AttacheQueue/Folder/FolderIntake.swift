internal import Attache

/// Takes dropped files into the queue.
struct FolderIntake {
  private let files: FolderFiles
  private let now: FolderMoment
  private let isSynced: Bool

  /// Files that are taken in at a time.
  private static let portion = 4_096
  /// What is kept of a file's name, in bytes: with what is known of a payload it must fit into a name of 255.
  private static let maximumName = 60

  init(_ files: FolderFiles, _ now: FolderMoment, isSynced: Bool) {
    (self.files, self.now, self.isSynced) = (files, now, isSynced)
  }

  /// The dropped files, in the order to take them in, as their names.
  static func waiting(in folder: QueueFolder) throws(QueueError) -> [String] {
    let names = try folder.names(in: "new")
    guard !names.isEmpty else { return [] }
    let found = names.compactMap { name in folder.status(of: "new/\(name)").map { (name: name, status: $0) } }
    return found.filter(\.status.isRegular).sorted { ($0.status.written, $0.name) < ($1.status.written, $1.name) }.map(\.name)
  }

  /// Gives dropped files their numbers.
  ///
  /// - Returns: whether more wait.
  func run() throws(QueueError) -> Bool {
    let names = try Self.waiting(in: files.folder)
    guard !names.isEmpty else { return false }
    let reader = DropReader()
    let first = try files.numbers(now).next
    var intake = Intake(next: first)
    do throws(QueueError) {
      for name in names.prefix(Self.portion) { try take(name, &intake, reader) }
    } catch {
      intake.journal.discard(in: files.folder)
      throw error
    }
    if intake.next > first {
      intake.journal.setNext(intake.next)
      try intake.journal.commit(to: files, isSynced: isSynced && intake.hasCopies)
    }
    return names.count > Self.portion
  }

  private struct Intake {
    var next: Int64
    var journal = FolderJournal()
    /// Whether something else than the dropped file itself becomes a payload.
    var hasCopies = false
  }

  private func take(_ name: String, _ intake: inout Intake, _ reader: DropReader) throws(QueueError) {
    let folder = files.folder
    let drop = "new/\(name)"
    guard let status = folder.status(of: drop) else { return }
    guard status.size <= NewPayload.maximumLine else {
      try folder.move(drop, to: "refused/\(name)")
      return
    }
    // What may not be read stays until it may.
    guard let bytes = try? folder.bytes(of: drop) else { return }
    let (payload, isChanged) = reader.read(bytes)
    var entry = FolderEntry(payload, id: intake.next, now)
    entry.name = Self.kept(of: name)
    intake.next += 1
    if isChanged {
      try intake.journal.write(payload.line, to: entry.waiting(now), in: folder)
      intake.journal.remove(drop)
      intake.hasCopies = true
    } else {
      intake.journal.move(drop, to: entry.waiting(now))
    }
  }

  /// What a name within the queue's own may have of a dropped file's name: its beginning and its ending, without control characters.
  private static func kept(of name: String) -> String {
    let text = String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }))
    guard text.utf8.count > maximumName else { return text }
    let dot = text.lastIndex(of: ".").map { text[$0...] } ?? ""
    let ending = dot.utf8.count <= 10 ? dot : ""
    var beginning = text.dropLast(ending.count)
    while beginning.utf8.count + ending.utf8.count > maximumName { beginning.removeLast() }
    return String(beginning) + String(ending)
  }
}

/// Reads what a dropped file says; used by one thread at a time.
struct DropReader {
  private let payloads = PayloadReader()
  private let deliveries = DeliveryReader()
  private static let (lineFeed, carriageReturn, space) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "))

  /// - Returns: the payload, and whether it had to be brought to one line.
  func read(_ bytes: [UInt8]) -> (NewPayload, isChanged: Bool) {
    let line = oneLine(bytes)
    return (NewPayload(line ?? bytes, envelope: deliveries.envelope(of: line ?? bytes), EnqueueOptions()), line != nil)
  }

  /// A JSON object on one line; nil for one that is so already, and for what is none.
  private func oneLine(_ bytes: [UInt8]) -> [UInt8]? {
    guard let first = bytes.firstIndex(of: Self.lineFeed), first < bytes.count - 1, isObject(bytes) else { return nil }
    let end = bytes.last == Self.lineFeed ? bytes.count - 1 : bytes.count
    var line = bytes
    // Within a string JSON has neither: here they are white space.
    for index in first..<end where line[index] == Self.lineFeed { line[index] = Self.space }
    for index in 0..<end where line[index] == Self.carriageReturn { line[index] = Self.space }
    return line
  }

  private func isObject(_ bytes: [UInt8]) -> Bool {
    guard bytes.count <= PayloadReader.maximumLineLength else { return false }
    let padded = bytes + [UInt8](repeating: 0, count: PayloadReader.padding)
    return unsafe padded.withUnsafeBytes { padded in
      switch unsafe payloads.read(UnsafeRawBufferPointer(rebasing: padded.prefix(bytes.count))) {
      case .passthrough(.nothing, .payloadSize), .invalid: false
      case .passthrough, .unopened, .candidates: true
      }
    }
  }
}
