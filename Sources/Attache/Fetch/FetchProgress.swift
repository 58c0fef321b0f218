internal import CFetcher
internal import Glibc

/// The progress of a fetch, as numbers only. A fetcher process reports it during the fetch and at
/// its end.
///
/// Data from another process is untrusted: values that are invalid are ignored.
struct FetchProgress: Equatable, Sendable {
  /// What a fetch waits for, or last waited for.
  enum Awaited: Equatable, Sendable {
    /// A place at its origin. `isRedirected` says whether this origin differs from the URL's.
    case origin(places: Int, isRedirected: Bool)
    /// One of the places that all origins share.
    case any(places: Int)
  }

  /// The largest accepted number of bytes. No file is so large, and sums of it do not overflow.
  static let maximumBytes: Int64 = 1 << 40

  var status: Int?
  /// The bytes of the body that arrived.
  var bytes = 0
  var type: MediaType?
  var cache = MediaRecord.Cache.miss
  var attempts = 0
  /// Without the total time, which belongs to the waiter.
  var timing = MediaRecord.Timing()
  var awaited: Awaited?
  /// Whether the complete picture is being converted.
  var isConverting = false
  /// When the current wait began.
  var waitingSince: MonotonicInstant?

  /// Copies the progress to a record. The record's other fields belong to the request.
  func report(to record: inout MediaRecord, at now: MonotonicInstant) {
    record.status = status
    record.bytes = bytes
    record.type = type
    record.attempts = attempts
    record.timing = timing
    if let waitingSince { record.timing.wait = (timing.wait ?? .zero) + max(.zero, waitingSince.duration(to: now)) }
    // A waiter that joined keeps its own value.
    if record.cache == .miss { record.cache = cache }
  }
}

extension FetchProgress {
  /// The representation in shared memory and in a frame.
  init(_ raw: fetcher_progress) {
    status = raw.status > 0 ? Int(raw.status) : nil
    bytes = Int(min(max(0, raw.bytes), Self.maximumBytes))
    type = MediaType(code: raw.type)
    cache = MediaRecord.Cache(code: raw.cache)
    attempts = Int(max(0, raw.attempts))
    timing.wait = Self.duration(raw.wait)
    timing.dns = Self.duration(raw.dns)
    timing.connect = Self.duration(raw.connect)
    timing.tls = Self.duration(raw.tls)
    timing.firstByte = Self.duration(raw.first_byte)
    let places = Int(clamping: raw.places)
    switch raw.awaited {
    case 1: awaited = .origin(places: places, isRedirected: false)
    case 2: awaited = .any(places: places)
    case 3: awaited = .origin(places: places, isRedirected: true)
    default: awaited = nil
    }
    isConverting = raw.converting == 1
    waitingSince = raw.waiting_since > 0 ? MonotonicInstant(nanoseconds: raw.waiting_since) : nil
  }

  func raw(of fetch: UInt64) -> fetcher_progress {
    var raw = fetcher_progress()
    raw.fetch = fetch
    raw.status = Int32(clamping: status ?? 0)
    raw.bytes = Int64(bytes)
    raw.type = type?.code ?? 0
    raw.cache = cache.code
    raw.attempts = Int32(clamping: attempts)
    raw.wait = timing.wait?.nanoseconds ?? -1
    raw.dns = timing.dns?.nanoseconds ?? -1
    raw.connect = timing.connect?.nanoseconds ?? -1
    raw.tls = timing.tls?.nanoseconds ?? -1
    raw.first_byte = timing.firstByte?.nanoseconds ?? -1
    switch awaited {
    case .origin(let places, let isRedirected): (raw.awaited, raw.places) = (isRedirected ? 3 : 1, Int64(places))
    case .any(let places): (raw.awaited, raw.places) = (2, Int64(places))
    case nil: break
    }
    raw.converting = isConverting ? 1 : 0
    raw.waiting_since = waitingSince?.nanoseconds ?? 0
    return raw
  }

  private static func duration(_ nanoseconds: Int64) -> Duration? {
    nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
  }
}

extension MediaType {
  /// The number in a frame, from 1; 0 means no type.
  var code: UInt8 { indexCode + 1 }

  init?(code: UInt8) {
    guard code > 0 else { return nil }
    self.init(indexCode: code - 1)
  }
}

extension MediaRecord.Cache {
  private static let all = allCases

  fileprivate var code: UInt8 { UInt8(Self.all.firstIndex(of: self) ?? 0) }

  fileprivate init(code: UInt8) {
    self = Int(code) < Self.all.count ? Self.all[Int(code)] : .miss
  }
}

/// Memory that a host and its fetchers share: the progress of each fetch, and the fetch that each
/// fetcher is working on.
///
/// `@unchecked Sendable`: the addresses are constant. Other threads and processes write to the memory
/// at any time, so each field is read once and checked.
@safe
final class FetcherMemory: @unchecked Sendable {
  /// The maximum number of fetches with visible progress. If a host has more in flight, it learns
  /// nothing about the others before they end.
  static let places = 16_384

  private let pulses: UnsafeMutablePointer<fetcher_pulse>
  private let progress: UnsafeMutablePointer<fetcher_progress>
  /// The size of the memory, in bytes.
  private let bytes: Int

  /// Maps the memory. Only the used part takes physical memory.
  ///
  /// - Throws: ``SystemError`` when there is no memory.
  init() throws(SystemError) {
    let pulseBytes = FetchConfiguration.maximumFetchers * MemoryLayout<fetcher_pulse>.stride
    bytes = pulseBytes + Self.places * MemoryLayout<fetcher_progress>.stride
    guard let start = unsafe fetcher_share(bytes) else {
      throw SystemError.noMemory
    }
    unsafe pulses = start.bindMemory(to: fetcher_pulse.self, capacity: FetchConfiguration.maximumFetchers)
    unsafe progress = (start + pulseBytes).bindMemory(to: fetcher_progress.self, capacity: Self.places)
  }

  deinit {
    _ = unsafe munmap(pulses, bytes)
  }

  /// Keeps the memory from the processes that this one forks.
  func keepFromChildren() {
    _ = unsafe madvise(pulses, bytes, MADV_DONTFORK)
  }

  /// Runs `body`, which forks a process that has no business with this memory and does not get it.
  func withheld<Result>(_ body: () throws(SystemError) -> Result) throws(SystemError) -> Result {
    _ = try SystemError.check("madvise", unsafe madvise(pulses, bytes, MADV_DONTFORK))
    defer { _ = unsafe madvise(pulses, bytes, MADV_DOFORK) }
    return try body()
  }

  // MARK: The host's side

  /// Returns how many turns the loop of a fetcher has finished.
  func turns(of fetcher: Int) -> UInt64 {
    unsafe pulses[fetcher].turns
  }

  /// Returns the fetch that a fetcher reports to be working on; nil for none.
  func fetchAtWork(of fetcher: Int) -> UInt64? {
    let fetch = unsafe pulses[fetcher].at_work
    return fetch == 0 ? nil : fetch
  }

  /// Clears the current fetch of the previous fetcher process.
  func forgetWork(of fetcher: Int) {
    unsafe pulses[fetcher].at_work = 0
  }

  /// Returns the progress of a fetch at a place.
  func progress(of fetch: UInt64, at place: Int) -> FetchProgress {
    let raw = unsafe fetcher_load(progress + place)
    return raw.fetch == fetch ? FetchProgress(raw) : FetchProgress()
  }

  // MARK: A fetcher's side

  /// Assigns a place to a fetch, and marks it as the fetcher's current fetch.
  func begin(_ fetch: UInt64, at place: Int, by fetcher: Int) {
    unsafe pulses[fetcher].at_work = fetch
    if place < Self.places { store(FetchProgress().raw(of: fetch), at: place) }
  }

  /// Reports the progress of a fetch, and marks it as the fetcher's current fetch. The progress is
  /// not written if another fetch has the place.
  func note(_ current: fetcher_progress, at place: Int, by fetcher: Int) {
    unsafe pulses[fetcher].at_work = current.fetch
    guard place < Self.places, unsafe progress[place].fetch == current.fetch else { return }
    store(current, at: place)
  }

  private func store(_ current: fetcher_progress, at place: Int) {
    unsafe withUnsafePointer(to: current) { unsafe fetcher_store(progress + place, $0) }
  }

  /// Clears the fetcher's current fetch. What libcurl does by itself, such as sending a request,
  /// belongs to no fetch.
  func endWork(of fetcher: Int) {
    unsafe pulses[fetcher].at_work = 0
  }

  /// Counts a finished turn of a fetcher's loop.
  func endTurn(of fetcher: Int) {
    unsafe pulses[fetcher].turns &+= 1
  }

  /// Ends the process when a turn takes a second of processor time.
  func watchTurns(of fetcher: Int) {
    unsafe fetcher_watch_turns(pulses + fetcher)
  }
}

/// Where the host reads the progress of a fetch.
enum FetchProgressSource: Sendable {
  /// - Parameter place: ``FetcherMemory/places`` if the fetch has no place.
  case shared(FetcherMemory, fetch: UInt64, place: Int)
  case ended(FetchProgress)

  var progress: FetchProgress {
    switch self {
    case .shared(let memory, let fetch, let place): place < FetcherMemory.places ? memory.progress(of: fetch, at: place) : FetchProgress()
    case .ended(let progress): progress
    }
  }
}

/// Where a fetcher reports the progress of a fetch.
struct FetchTrace: Sendable {
  let memory: FetcherMemory
  let fetcher: Int
  let fetch: UInt64
  let place: Int

  func note(_ progress: fetcher_progress) {
    memory.note(progress, at: place, by: fetcher)
  }
}
