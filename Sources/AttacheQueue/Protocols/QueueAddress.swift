/// A kind of queue, and where one queue of this kind is.
///
/// ``QueueLocation`` parses the address of any registered kind.
public protocol QueueAddress: Hashable, Sendable, CustomStringConvertible {
  /// The words before the first colon of an address. Programs write the first one.
  static var schemes: [String] { get }
  /// The form of an address for messages, such as `sqlite:PATH`.
  static var form: String { get }

  /// Parses an address.
  ///
  /// - Parameter text: the whole address. It begins with one of ``schemes`` and a colon.
  /// - Throws: ``QueueAddressError`` with a sentence that says what is wrong.
  init(parsing text: String) throws(QueueAddressError)

  /// The address without password and options, which parses again. It names the queue for people:
  /// two queues of one server have different descriptions.
  var description: String { get }

  /// The path of the file or folder that exists as long as the queue does; nil for a queue on a
  /// server.
  var path: String? { get }

  /// The files of the queue on this machine, which no other output may overwrite. None for a queue
  /// on a server.
  var files: [String] { get }

  /// Opens the queue.
  ///
  /// - Throws: ``QueueError`` when the queue cannot be opened or created.
  func open(_ opening: QueueOpening) throws(QueueError) -> any PayloadQueue

  /// Removes the queue with everything in it, if nothing else can be in the same place. No process
  /// may use the queue any more.
  ///
  /// - Throws: ``QueueError`` when the queue cannot be removed.
  func remove() throws(QueueError)
}

extension QueueAddress {
  /// The first scheme and three dots.
  public static var form: String { (schemes.first ?? "") + ":…" }
  /// Nil, as for a queue on a server.
  public var path: String? { nil }
  /// None.
  public var files: [String] { [] }
}

/// Why a text is no address of a queue, in a sentence for the user.
public struct QueueAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The sentence, without a full stop. It does not contain the address, which may have a password.
  public var description: String

  /// Creates an error from its sentence.
  public init(_ description: String) {
    self.description = description
  }
}

/// How a queue is opened.
public struct QueueOpening: Sendable {
  /// Whether to create a missing queue.
  public var creates: Bool
  /// When changes are safe from a power failure.
  public var sync = SyncChoice.group
  /// Measures leases, delays and times. A queue on a server uses the server's clock instead of the
  /// default.
  public var clock: any QueueClock = SystemQueueClock()
  /// How long a call waits for a server that does not answer, before it throws
  /// ``QueueError/unavailable(_:)`` or ``QueueError/unknown(_:)``. A queue on this machine does not
  /// use it.
  public var timeout = QueueOpening.timeout

  /// The default of ``timeout``: longer than the failover of a server takes.
  public static let timeout = Duration.seconds(300)

  /// Creates the default options.
  public init(creates: Bool) {
    self.creates = creates
  }
}
