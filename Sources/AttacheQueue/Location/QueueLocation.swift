package import Attache
internal import Glibc
internal import Synchronization

/// Where a queue is: the address of any kind of queue, such as `sqlite:PATH`.
///
/// Another module adds a kind with ``register(_:)``.
public struct QueueLocation: Hashable, Sendable, CustomStringConvertible {
  /// The address, whose type is the kind of queue.
  public let address: any QueueAddress

  private static let kinds = Mutex<[any QueueAddress.Type]>([SQLiteAddress.self])

  /// Adds a kind of queue. Call it before any address of this kind is parsed.
  ///
  /// - Parameter kind: does nothing when a kind with one of its schemes is known.
  public static func register(_ kind: any QueueAddress.Type) {
    kinds.withLock { kinds in
      let known = kinds.flatMap { $0.schemes }
      if !kind.schemes.contains(where: known.contains) { kinds.append(kind) }
    }
  }

  /// The forms of all known kinds in one text: `sqlite:PATH, postgresql://HOST/DATABASE`.
  public static var forms: String {
    kinds.withLock { $0.map { $0.form }.joined(separator: ", ") }
  }

  /// Creates a location from an address.
  public init(_ address: some QueueAddress) {
    self.address = address
  }

  /// Parses the address of a known kind.
  ///
  /// - Throws: ``QueueAddressError``, also when no kind has the address's scheme.
  public init(parsing text: String) throws(QueueAddressError) {
    let scheme = text.firstIndex(of: ":").map { String(text[..<$0]) }
    let kind = Self.kinds.withLock { kinds in kinds.first { kind in scheme.map(kind.schemes.contains) ?? false } }
    guard let kind, !text.utf8.contains(0) else { throw QueueAddressError("the forms of a queue's address are \(Self.forms)") }
    address = try kind.init(parsing: text)
  }

  /// Parses the address of a known kind.
  ///
  /// - Returns: nil for any other text.
  public init?(_ text: String) {
    do throws(QueueAddressError) { try self.init(parsing: text) } catch { return nil }
  }

  /// A database file.
  public static func sqlite(path: String) -> QueueLocation { QueueLocation(SQLiteAddress(file: path)) }

  /// Parses the path of a queue with a file.
  static func path(in text: String) throws(QueueAddressError) -> String {
    let path = text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) } ?? ""
    guard !path.isEmpty else { throw QueueAddressError("the path is missing; the forms of a queue's address are \(forms)") }
    return path
  }

  /// Whether both are the same address of the same kind.
  public static func == (one: QueueLocation, other: QueueLocation) -> Bool {
    AnyHashable(one.address) == AnyHashable(other.address)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(AnyHashable(address))
  }

  /// The address without password and options.
  public var description: String { address.description }

  /// The description as one line for a message. Line feeds in the path are escaped.
  package var message: String { description.onOneLine }

  /// The description with the absolute path of the queue's file, which means the same in each folder.
  package var absoluteDescription: String {
    guard let path = address.path, let real = unsafe realpath(path, nil) else { return description }
    defer { unsafe free(real) }
    return unsafe "\(description.prefix { $0 != ":" }):" + String(cString: real)
  }

  /// Whether the queue is on a server, which several machines may share.
  package var isOnServer: Bool { address.path == nil }

  /// Opens the queue.
  ///
  /// - Throws: ``QueueError`` when the queue cannot be opened or created.
  public func open(_ opening: QueueOpening) throws(QueueError) -> any PayloadQueue {
    try QueueError.opening { () throws(QueueError) -> any PayloadQueue in try address.open(opening) }
  }

  /// Opens the queue.
  ///
  /// - Parameters:
  ///   - creates: whether to create a missing queue.
  ///   - sync: when changes are safe from a power failure.
  ///   - clock: measures leases, delays and times.
  ///   - timeout: how long a call waits for a server (``QueueOpening/timeout``).
  /// - Throws: ``QueueError`` when the queue cannot be opened or created.
  public func open(
    creates: Bool, sync: SyncChoice = .group, clock: any QueueClock = SystemQueueClock(), timeout: Duration = QueueOpening.timeout
  ) throws(QueueError) -> any PayloadQueue {
    var opening = QueueOpening(creates: creates)
    (opening.sync, opening.clock, opening.timeout) = (sync, clock, timeout)
    return try open(opening)
  }

  /// Removes the queue (``QueueAddress/remove()``).
  package func remove() throws(QueueError) {
    try address.remove()
  }

  /// The queue as a store knows it; nil for a queue on a server, for which a store holds nothing.
  package var holdOwner: HoldOwner? {
    address.path.map { HoldOwner(kind: type(of: address).schemes.first ?? "", path: $0) }
  }
}
