internal import CFetcher

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
  private static let all = allCases

  /// The number in a frame, from 1; 0 means no type.
  var code: UInt8 { UInt8((Self.all.firstIndex(of: self) ?? -1) + 1) }

  init?(code: UInt8) {
    guard code > 0, Int(code) <= Self.all.count else { return nil }
    self = Self.all[Int(code) - 1]
  }
}

extension MediaRecord.Cache {
  private static let all = allCases

  fileprivate var code: UInt8 { UInt8(Self.all.firstIndex(of: self) ?? 0) }

  fileprivate init(code: UInt8) {
    self = Int(code) < Self.all.count ? Self.all[Int(code)] : .miss
  }
}
