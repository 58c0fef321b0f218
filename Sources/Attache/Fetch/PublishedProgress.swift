internal import CFetcher
internal import Synchronization

/// The progress of a fetch, which its loop stores and any thread reads. As in the memory that
/// processes share, a reader may see some fields before and some after a change: each is right by
/// itself. `wait` is stored after `waitingSince` and loaded before it. A reader that sees the sum with
/// an ended wait therefore also sees that the wait has ended, and does not count it twice.
final class PublishedProgress: FetchProgressSource {
  private let status = Atomic<Int32>(0)
  private let bytes = Atomic<Int64>(0)
  private let type = Atomic<UInt8>(0)
  private let cache = Atomic<UInt8>(0)
  private let attempts = Atomic<Int32>(0)
  private let wait = Atomic<Int64>(0)
  private let dns = Atomic<Int64>(0)
  private let connect = Atomic<Int64>(0)
  private let tls = Atomic<Int64>(0)
  private let firstByte = Atomic<Int64>(0)
  private let awaited = Atomic<UInt8>(0)
  private let converting = Atomic<UInt8>(0)
  private let places = Atomic<Int64>(0)
  private let waitingSince = Atomic<Int64>(0)

  init() {
    store(FetchProgress().raw(of: 0))
  }

  func store(_ raw: fetcher_progress) {
    status.store(raw.status, ordering: .relaxed)
    bytes.store(raw.bytes, ordering: .relaxed)
    type.store(raw.type, ordering: .relaxed)
    cache.store(raw.cache, ordering: .relaxed)
    attempts.store(raw.attempts, ordering: .relaxed)
    dns.store(raw.dns, ordering: .relaxed)
    connect.store(raw.connect, ordering: .relaxed)
    tls.store(raw.tls, ordering: .relaxed)
    firstByte.store(raw.first_byte, ordering: .relaxed)
    awaited.store(raw.awaited, ordering: .relaxed)
    converting.store(raw.converting, ordering: .relaxed)
    places.store(raw.places, ordering: .relaxed)
    waitingSince.store(raw.waiting_since, ordering: .relaxed)
    wait.store(raw.wait, ordering: .releasing)
  }

  var progress: FetchProgress {
    var raw = fetcher_progress()
    raw.status = status.load(ordering: .relaxed)
    raw.bytes = bytes.load(ordering: .relaxed)
    raw.type = type.load(ordering: .relaxed)
    raw.cache = cache.load(ordering: .relaxed)
    raw.attempts = attempts.load(ordering: .relaxed)
    raw.wait = wait.load(ordering: .acquiring)
    raw.dns = dns.load(ordering: .relaxed)
    raw.connect = connect.load(ordering: .relaxed)
    raw.tls = tls.load(ordering: .relaxed)
    raw.first_byte = firstByte.load(ordering: .relaxed)
    raw.awaited = awaited.load(ordering: .relaxed)
    raw.converting = converting.load(ordering: .relaxed)
    raw.places = places.load(ordering: .relaxed)
    raw.waiting_since = waitingSince.load(ordering: .relaxed)
    return FetchProgress(raw)
  }
}
