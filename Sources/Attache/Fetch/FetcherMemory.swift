internal import CFetcher
internal import Glibc

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
