internal import CFetcher
internal import Glibc
internal import Synchronization

/// A small process that starts the fetcher processes and reports when they end. It is forked before
/// this process has threads, connections or an open database, because none of these survives a
/// fork.
///
/// For a host that must go on when this process is killed, a second process stands by: it has done
/// nothing since it was forked, so it can fork the first one again. If it is killed too, nothing
/// can be started any more.
package final class FetcherParent: Sendable {
  /// The description of a fetcher to start.
  struct Order {
    var number: Int
    /// The number of fetchers.
    var count: Int
    /// How many times a fetcher with this number has been started.
    var generation: Int
    /// The name of the host's folder of unfinished files.
    var temporaryName: String
    /// Whether to parse the root certificates first, for all fetchers that are started from now on.
    var needsRoots: Bool

    /// The start of the numbers of its unfinished files.
    var firstNumber: UInt64 { Self.numbers(of: number, generation).lowerBound }

    /// Returns the numbers of a fetcher's unfinished files.
    static func numbers(of fetcher: Int, _ generation: Int) -> Range<UInt64> {
      let first = UInt64(fetcher + 1) << 48 | UInt64(generation & 0xffff) << 32
      return first..<first + (1 << 32)
    }
  }

  /// The end of a fetcher.
  struct End: Equatable {
    var number: Int
    var generation: Int
    /// 0 if it exited by itself.
    var signal: Int32
    var status: Int32
  }

  /// What the process reports.
  enum Report {
    case end(End)
    /// A process that replaces another has tried to load the library of the converters.
    case library
    /// The process itself has ended.
    case over
  }

  /// The result of ``replace()``.
  enum Replacement {
    case started
    /// The system cannot provide a socket at the moment.
    case later
    /// No process stands by, or it has ended too.
    case never
  }

  let memory: FetcherMemory
  /// The socket for orders and reports of ends. It stays readable once the process has ended. The
  /// number stays the same for the process that replaces it.
  let socket: Int32
  /// The process that this one has forked: the one that stands by, if there is one.
  private let spawner: SpawnerProcess
  /// The socket of the process that stands by; -1 without one.
  private let standby: Int32
  /// How many processes have started fetchers so far.
  private let count = Atomic<Int>(1)
  private let loadsLibrary: Bool
  /// Whether the next message is about the library of the converters.
  private let awaitsLibrary = Atomic<Bool>(false)
  /// Why pictures cannot be converted, for the user; nil if they can, or if they need not be.
  package let converterFailure: String?

  /// Forks the process.
  ///
  /// - Parameters:
  ///   - configuration: the configuration of every fetcher.
  ///   - store: the folder of attachments, as passed to `AttachmentStore`.
  ///   - maximumBytes: the maximum size of the store, in bytes.
  ///   - maximumAge: how long a file of the store may go unused.
  ///   - fetches: the number of fetches that may be in flight.
  ///   - uploader: the program that ``startUploader(_:)`` starts, if any.
  ///   - isReplaceable: whether a process stands by for ``replace()``.
  /// - Throws: ``SystemError`` when the system cannot provide a process, memory or a socket.
  package init(
    _ configuration: FetchConfiguration, store: String, maximumBytes: Int64, maximumAge: Duration, fetches: Int,
    uploader: UploaderProgram? = nil, isReplaceable: Bool = false
  ) throws(SystemError) {
    precondition(configuration.fields.isEmpty, "fetchers may not have the fields of all origins")
    memory = try FetcherMemory()
    let ends = try MessageSocket.pair()
    socket = ends.own
    loadsLibrary = configuration.steps.conversion != nil
    let start = { [memory] () -> Never in
      let limits = StoreEviction.Limits(maximumBytes: maximumBytes, maximumAge: maximumAge)
      FetcherSpawner(
        configuration, store: store, limits: limits, bounds: FetcherBounds(fetches: fetches),
        memory: memory, uploader: uploader, socket: Int32(fetcher_kept)
      ).run()
    }
    let (standby, other) = isReplaceable ? try MessageSocket.pair() : (own: -1, other: ends.other)
    let child = fetcher_fork(other)
    if child == 0 {
      if isReplaceable { Self.standBy(start) } else { start() }
    }
    let error = errno
    self.standby = standby
    spawner = SpawnerProcess(child, sockets: isReplaceable ? [standby, ends.own] : [ends.own])
    if isReplaceable {
      _ = MessageSocket.send([0], over: standby, with: ends.other)
      close(other)
    }
    close(ends.other)
    converterFailure = child > 0 && loadsLibrary ? Self.libraryFailure(from: ends.own) : nil
    guard child > 0 else { throw SystemError(call: "fork", number: error) }
  }

  // MARK: The process that stands by

  /// Forks the process that starts fetchers, once for each socket that it receives, until the host
  /// has ended.
  private static func standBy(_ start: () -> Never) -> Never {
    unsafe fetcher_name("standby")
    fetcher_adopt_orphans()
    // The kernel waits for its children.
    signal(SIGCHLD, SIG_IGN)
    while true {
      guard let (_, connection) = MessageSocket.receive(from: Int32(fetcher_kept)) else { fetcher_leave() }
      guard connection >= 0 else { continue }
      if fetcher_fork(connection) == 0 { start() }
      // If the fork failed, the host detects the end of the connection.
      close(connection)
    }
  }

  /// Replaces the process after it has ended. Call it on the loop that watches ``socket``, which
  /// must watch it again.
  func replace() -> Replacement {
    guard standby >= 0 else { return .never }
    return spawner.whileRunning { () -> Replacement in
      guard let ends = try? MessageSocket.pair() else { return .later }
      defer {
        close(ends.own)
        close(ends.other)
      }
      guard MessageSocket.send([0], over: standby, with: ends.other) else { return errno == EPIPE || errno == ECONNRESET ? .never : .later }
      awaitsLibrary.store(loadsLibrary, ordering: .relaxed)
      // Other threads may be sending at the same time, to this one or the one before.
      guard fetcher_replace(ends.own, socket) >= 0 else { return .later }
      count.add(1, ordering: .relaxed)
      return .started
    } ?? .never
  }

  /// The number of the process that starts fetchers, from 1.
  var generation: Int { count.load(ordering: .relaxed) }

  /// Whether the process with a number has ended. When a process ends, its socket is closed before
  /// its children are killed: a fetcher that ended with its parent never seems to have ended alone.
  func hasEnded(_ generation: Int) -> Bool {
    guard generation == self.generation else { return true }
    var request = pollfd(fd: socket, events: 0, revents: 0)
    return unsafe poll(&request, 1, 0) > 0
  }

  /// Waits until the process has loaded the library of its converters.
  ///
  /// - Returns: why it could not, or nil.
  private static func libraryFailure(from socket: Int32) -> String? {
    guard let (message, _) = MessageSocket.receive(from: socket) else {
      return "the process that starts fetchers has ended while it loaded libvips; \(Shortage.memory)"
    }
    return message.count == 1 ? nil : String(decoding: message, as: UTF8.self)
  }

  deinit {
    stop()
  }

  /// Ends the process and its children, and waits for the process (``SpawnerProcess/stop()``).
  func stop() { spawner.stop() }

  var isOver: Bool { spawner.isStopped }

  /// Orders the start of a fetcher.
  ///
  /// - Parameter connection: the fetcher's end of the connection. The caller still owns it.
  /// - Returns: false when the order could not be sent, for example because the process has ended.
  func start(_ order: Order, connection: Int32) -> Bool {
    spawner.willHaveChildren()
    var message = [SpawnCommand.start]
    for number in [order.number, order.count, order.generation] { message.put(Int32(number)) }
    message.append(order.needsRoots ? 1 : 0)
    message += order.temporaryName.utf8
    return MessageSocket.send(message, over: socket, with: connection)
  }

  /// Orders the start of the process that uploads. The connection shows its end.
  ///
  /// - Parameter connection: the process's end of the connection. The caller still owns it.
  /// - Returns: false when the order could not be sent.
  @Sendable
  package func startUploader(_ connection: Int32) -> Bool {
    spawner.willHaveChildren()
    return MessageSocket.send([SpawnCommand.upload], over: socket, with: connection)
  }

  /// Orders the end of a fetcher, if it is running.
  func end(_ number: Int, _ generation: Int) {
    var message = [SpawnCommand.end]
    for number in [number, generation] { message.put(Int32(number)) }
    _ = MessageSocket.send(message, over: socket)
  }

  /// Reads the next report.
  func nextReport() -> Report {
    guard let (message, descriptor) = MessageSocket.receive(from: socket) else { return .over }
    if descriptor >= 0 { close(descriptor) }
    if awaitsLibrary.exchange(false, ordering: .relaxed) { return .library }
    var reader = ByteReader(message)
    guard let raw = reader.read((Int32, Int32, Int32, Int32).self), raw.0 >= 0 else { return .over }
    return .end(End(number: Int(raw.0), generation: Int(raw.1), signal: raw.2, status: raw.3))
  }
}
