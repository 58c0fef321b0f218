internal import CFetcher

/// Memory that a host and its fetchers' processes share: how far each fetch is, and what each
/// fetcher is at.
///
/// `@unchecked Sendable`: the addresses are constant. What stands there is written by other
/// processes at any time: each field is read once, and checked.
@safe
final class FetcherMemory: @unchecked Sendable {
  /// Fetches whose progress is shown at a time; a host with more in flight knows nothing of the
  /// others before they end.
  static let places = 16_384

  private let pulses: UnsafeMutablePointer<fetcher_pulse>
  private let progress: UnsafeMutablePointer<fetcher_progress>

  /// Maps the memory, of which only what is used is taken. It stays mapped as long as the process
  /// lives.
  ///
  /// - Throws: ``SystemError`` when there is none.
  init() throws(SystemError) {
    let pulseBytes = MediaFetcher.maximumFetchers * MemoryLayout<fetcher_pulse>.stride
    guard let start = unsafe fetcher_share(pulseBytes + Self.places * MemoryLayout<fetcher_progress>.stride) else {
      throw SystemError.noMemory
    }
    unsafe pulses = start.bindMemory(to: fetcher_pulse.self, capacity: MediaFetcher.maximumFetchers)
    unsafe progress = (start + pulseBytes).bindMemory(to: fetcher_progress.self, capacity: Self.places)
  }

  // MARK: The host's side

  /// How often the loop of a fetcher has turned.
  func turns(of fetcher: Int) -> UInt64 {
    unsafe pulses[fetcher].turns
  }

  /// The fetch that a fetcher is at, as it says; nil for none.
  func fetchAtWork(of fetcher: Int) -> UInt64? {
    let fetch = unsafe pulses[fetcher].at_work
    return fetch == 0 ? nil : fetch
  }

  /// Forgets what the fetcher before was at.
  func forgetWork(of fetcher: Int) {
    unsafe pulses[fetcher].at_work = 0
  }

  /// How far a fetch is that was given a place.
  func progress(of fetch: UInt64, at place: Int) -> FetchProgress {
    let raw = unsafe progress[place]
    return raw.fetch == fetch ? FetchProgress(raw) : FetchProgress()
  }

  // MARK: A fetcher's side

  /// Gives a place to a fetch, which the fetcher is at from now on.
  func begin(_ fetch: UInt64, at place: Int, by fetcher: Int) {
    unsafe pulses[fetcher].at_work = fetch
    if place < Self.places { unsafe progress[place] = FetchProgress().raw(of: fetch) }
  }

  /// Says how far a fetch is, and that the fetcher is at it. Does nothing once another has the
  /// place.
  func note(_ current: FetchProgress, of fetch: UInt64, at place: Int, by fetcher: Int) {
    unsafe pulses[fetcher].at_work = fetch
    guard place < Self.places, unsafe progress[place].fetch == fetch else { return }
    unsafe progress[place] = current.raw(of: fetch)
  }

  /// Says that a fetcher is at no fetch. What libcurl does by itself, such as to send a request, is
  /// no fetch's.
  func endWork(of fetcher: Int) {
    unsafe pulses[fetcher].at_work = 0
  }

  /// Says that a turn of a fetcher's loop is over.
  func endTurn(of fetcher: Int) {
    unsafe pulses[fetcher].turns &+= 1
  }

  /// Has the process end when a turn takes a second of processor time.
  func watchTurns(of fetcher: Int) {
    unsafe fetcher_watch_turns(pulses + fetcher)
  }
}

/// What knows how far a fetch is.
protocol FetchProgressSource: Sendable {
  var progress: FetchProgress { get }
}

extension FetchProgress: FetchProgressSource {
  var progress: FetchProgress { self }
}

/// Where the progress of a fetch stands that a fetcher's process carries out.
struct SharedProgress: FetchProgressSource {
  let memory: FetcherMemory
  let fetch: UInt64
  /// ``FetcherMemory/places`` for none.
  let place: Int

  var progress: FetchProgress {
    place < FetcherMemory.places ? memory.progress(of: fetch, at: place) : FetchProgress()
  }
}

/// Where a fetcher's process says how far a fetch is.
struct FetchTrace: Sendable {
  let memory: FetcherMemory
  let fetcher: Int
  let fetch: UInt64
  let place: Int

  func note(_ progress: FetchProgress) {
    memory.note(progress, of: fetch, at: place, by: fetcher)
  }
}
