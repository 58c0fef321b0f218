internal import CChild
internal import CFetcher
internal import Glibc

/// The implementation of the process that starts fetchers. It always has one thread.
struct FetcherSpawner {
  private struct Child {
    var number: Int32
    var generation: Int32
    var helpers: FetcherHelpers
  }

  private let configuration: FetchConfiguration
  private let store: String
  private let limits: StoreEviction.Limits
  private let memory: FetcherMemory
  private let socket: Int32
  private let bounds: FetcherBounds
  private let uploader: UploaderProgram?
  /// What fetchers start with.
  private let start: FetcherStart
  private var children: [pid_t: Child] = [:]
  private var uploaders: Set<pid_t> = []
  /// How many waits have failed in a row.
  private var failures = 0
  /// With a pause of 100 ms each, 5 s.
  private static let maximumFailures = 50

  init(
    _ configuration: FetchConfiguration, store: String, limits: StoreEviction.Limits, bounds: FetcherBounds, memory: FetcherMemory,
    uploader: UploaderProgram?, socket: Int32
  ) {
    (self.configuration, self.store, self.limits, self.memory, self.socket) = (configuration, store, limits, memory, socket)
    (self.bounds, self.uploader) = (bounds, uploader)
    start = FetcherStart(configuration)
    guard configuration.steps.conversion != nil else { return }
    var message: [UInt8] = [0]
    do throws(StartError) { try ConverterLibrary.load() } catch { message = Array("\(error)".utf8.prefix(1_024)) }
    _ = MessageSocket.send(message, over: socket)
  }

  consuming func run() -> Never {
    unsafe fetcher_name("fetchers")
    fetcher_adopt_orphans()
    let ends = fetcher_watch_children()
    guard ends >= 0 else { _exit(70) }
    while true {
      let now = MonotonicInstant.now
      let pauses = children.mapValues { $0.helpers.pause(at: now) }
      let ready = pauses.filter { $0.value == .zero }.map(\.key)
      var requests = ([socket, ends] + ready.compactMap { children[$0]?.helpers.socket }).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      let next = pauses.values.filter { $0 > .zero }.min()
      let count = unsafe poll(&requests, nfds_t(requests.count), next.map { now.advanced(by: $0).pollTimeout } ?? -1)
      guard count > 0 else {
        if count < 0, errno != EINTR { pauseAfterFailure() }
        continue
      }
      failures = 0
      for (fetcher, request) in zip(ready, requests.dropFirst(2)) where request.revents != 0 { takeRequest(of: fetcher) }
      if requests[1].revents != 0 { reap(ends) }
      if requests[0].revents != 0 { takeOrder() }
    }
  }

  /// Waits, since the kernel may have no memory at the moment. Ends the process when that lasts: its
  /// host notices the end and reports it.
  private mutating func pauseAfterFailure() {
    failures += 1
    if failures > Self.maximumFailures { leave() }
    usleep(100_000)
  }

  private func leave() -> Never {
    for process in children.keys + children.values.flatMap(\.helpers.children) + uploaders { kill(process, SIGKILL) }
    fetcher_leave()
  }

  /// Carries out a request of a fetcher for a detector or a converter.
  private mutating func takeRequest(of fetcher: pid_t) {
    let isTaken = children[fetcher]?.helpers.carryOut(at: .now) { [start, memory] kind throws(SystemError) in
      switch kind {
      case .detector:
        guard let files = try? start.files.get() else { throw SystemError(call: "fork", number: EINVAL) }
        return try memory.withheld { () throws(SystemError) in try DetectorProcess.start(files.database) }
      case .converter:
        guard start.converts else { throw SystemError(call: "fork", number: EPERM) }
        return try memory.withheld { () throws(SystemError) in try ConverterProcess.start() }
      }
    }
    // It has closed its end, or has been taken over.
    if isTaken == false { kill(fetcher, SIGKILL) }
  }

  private mutating func reap(_ ends: Int32) {
    var (signal, status): (Int32, Int32) = (0, 0)
    while true {
      let process = unsafe fetcher_reap(ends, &signal, &status)
      guard process > 0 else { return }
      // The host learns the end of the uploader from its connection.
      uploaders.remove(process)
      guard let child = children.removeValue(forKey: process) else {
        for fetcher in children.keys where children[fetcher]?.helpers.hasEnded(process, signal: signal) == true { break }
        continue
      }
      child.helpers.close()
      var message: [UInt8] = []
      for number in [child.number, child.generation, signal, status] { message.put(number) }
      _ = MessageSocket.send(message, over: socket)
    }
  }

  private mutating func takeOrder() {
    // The host has ended, or ends. What the children have started ends with them.
    guard let (order, connection) = MessageSocket.receive(from: socket) else { leave() }
    defer { if connection >= 0 { close(connection) } }
    var reader = ByteReader(order)
    guard let kind = reader.read(UInt8.self) else { return }
    if kind == SpawnCommand.upload { return startUploader(connection) }
    guard let number = reader.read(Int32.self) else { return }
    if kind == SpawnCommand.end {
      guard let generation = reader.read(Int32.self) else { return }
      for (process, child) in children where child.number == number && child.generation == generation { kill(process, SIGKILL) }
      return
    }
    if connection >= 0 { startFetcher(number, &reader, connection) }
  }

  private mutating func startFetcher(_ number: Int32, _ reader: inout ByteReader, _ connection: Int32) {
    guard let engines = reader.read(Int32.self), let generation = reader.read(Int32.self), let needsRoots = reader.read(UInt8.self) else {
      return
    }
    if needsRoots == 1 { start.roots?.load() }
    for (process, child) in children where child.number == number { kill(process, SIGKILL) }
    let helpers: (own: Int32, other: Int32)
    do throws(SystemError) { helpers = try MessageSocket.pair() } catch { return FetcherServer.report(error, to: connection) }
    let child = fetcher_fork_with(connection, helpers.other)
    let error = SystemError(call: "fork", number: errno)
    close(helpers.other)
    if child == 0 {
      child_ask(Int32(fetcher_kept_too))
      FetcherServer.run(
        FetcherParent.Order(
          number: Int(number), count: Int(engines), generation: Int(generation),
          temporaryName: String(decoding: reader.rest, as: UTF8.self), needsRoots: false),
        configuration, store: store, limits: limits, bounds: bounds, memory: memory, from: start, connection: Int32(fetcher_kept))
    }
    if child > 0 {
      children[child] = Child(number: number, generation: generation, helpers: FetcherHelpers(helpers.own))
    } else {
      close(helpers.own)
      FetcherServer.report(error, to: connection)
    }
  }

  private mutating func startUploader(_ connection: Int32) {
    guard let uploader, connection >= 0 else { return }
    let child = fetcher_fork(connection)
    if child > 0 { uploaders.insert(child) }
    guard child == 0 else { return }
    unsafe fetcher_name("uploader")
    let files = FetcherBounds.confine(uploader)
    // This runs on a new thread, as in a fetcher.
    let started = try? Thread.start("upload") {
      // The host starts a new process, which may read a file that was replaced.
      let isStarted = UploadServer.start(uploader.bucket, Int32(fetcher_kept)) {
        if files.areReplaced { _exit(0) }
      } onEnd: {
        _exit(0)
      }
      if !isStarted { _exit(71) }
    }
    guard let started else { _exit(71) }
    started.detach()
    while true { pause() }
  }
}

/// The first byte of an order: what the process shall do.
enum SpawnCommand {
  static let start: UInt8 = 1
  static let end: UInt8 = 2
  static let upload: UInt8 = 3
}
