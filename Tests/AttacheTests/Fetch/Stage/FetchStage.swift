import AttacheTesting
import Foundation
import Synchronization
import Testing

@testable import Attache

/// A fetcher with its own store and origin.
struct FetchStage: Sendable {
  let folder: AttachmentStoreTestFolder
  /// The store's path in the folder: empty, or a name with a slash.
  let subfolder: String
  let store: AttachmentStore
  let origin: FaultOrigin
  let fetcher: MediaFetcher
  let clock: MonotonicClock

  /// Starts to fetch a path of the origin, or a URL. Cancels after a time, as every caller of the
  /// fetcher does.
  func begin(_ place: String, within budget: Duration = .seconds(20)) -> RunningFetch {
    RunningFetch(place.hasPrefix("/") ? origin.url(place) : place, with: fetcher, store: store, clock: clock, budget: budget)
  }

  /// Fetches a path of the origin, or a URL.
  func fetch(_ place: String, within budget: Duration = .seconds(20)) async -> Fetched {
    await begin(place, within: budget).end
  }

  /// The files of the store, finished or not, without its index.
  var files: [String] {
    folder.files.filter { $0.hasPrefix(subfolder) }.map { String($0.dropFirst(subfolder.count)) }.filter { !$0.hasPrefix(".index/") }
  }

  /// The stored files that are still pinned.
  var pinned: [String] {
    files.filter { path in
      let parts = path.split(separator: "/").map(String.init)
      guard parts.count == 2, let name = StoreName(folder: parts[0], fileName: parts[1]) else { return false }
      return store.ledger.withLock { $0.isPinned(name) }
    }
  }

  /// The unfinished files of the store.
  var unfinished: [String] {
    files.filter { path in
      let parts = path.split(separator: "/").map(String.init)
      return parts.count != 2 || StoreName(folder: parts[0], fileName: parts[1]) == nil
    }
  }

  /// Whether no file is pinned or unfinished and no engine has a request, after all earlier work is
  /// done.
  func isAtRest() async -> Bool {
    await settle()
    return pinned.isEmpty && unfinished.isEmpty && fetcher.memory.state.withLock { $0.routes.isEmpty }
  }

  /// Returns when the loops have run all earlier work, and the fetchers have told the host.
  func settle() async {
    for _ in 0..<2 {
      // What was cancelled is sent to the fetchers with low priority.
      for loop in [fetcher.loop] + fetcher.engines.map(\.loop) {
        await withCheckedContinuation { continuation in
          loop.post { loop.postLowPriority { continuation.resume() } }
        }
      }
      await withCheckedContinuation { continuation in fetcher.pulse { _ in continuation.resume() } }
    }
  }
}

/// Sets up a stage, runs `body` on it, and tears it down.
///
/// - Parameters:
///   - nets: networks that the address gate allows although they are not public.
///   - folder: the subfolder of the store, if any.
///   - converter: what the converters do with each picture instead of converting it.
///   - configure: changes further settings. Plain http is allowed.
func withFetchStage(
  tls: FaultOrigin.TLS = .none, http2: Bool = true, connectionFault: ConnectionFault? = nil, nets: [String] = ["127.0.0.1/32"],
  folder: AttachmentStoreTestFolder = AttachmentStoreTestFolder(), subfolder: String = "", trust: Duration = SessionCache.trust,
  dns: StubDNS? = nil, converter: Misbehaviour? = nil,
  configure: (inout FetchConfiguration) -> Void = { _ in }, _ body: (FetchStage) async throws -> Void
) async throws {
  let store = try AttachmentStore(directory: folder[subfolder], maximumBytes: 1_000_000_000, maximumAge: .seconds(3600))
  let origin = try await FaultOrigin.start(tls: tls, http2: http2, connectionFault: connectionFault)
  var configuration = FetchConfiguration()
  configuration.policy = URLPolicy(allowHTTP: true, allowedNets: try nets.map { try CIDR($0) })
  configuration.rootCertificates = origin.rootCertificatePEMFile
  configuration.nameServers = dns.map { [$0.address] } ?? []
  configure(&configuration)
  var network = TransferWatch.watching(.real(configuration))
  if let converter { network.startConverter = converter.startConverter }
  let fetcher = try MediaFetcher(configuration, store: store, trust: trust, network: network)
  let stage = FetchStage(folder: folder, subfolder: subfolder, store: store, origin: origin, fetcher: fetcher, clock: try MonotonicClock())
  do {
    try await body(stage)
  } catch {
    fetcher.shutdown()
    await origin.stop()
    throw error
  }
  fetcher.shutdown()
  await origin.stop()
}

/// Test files for fetches.
enum Sample {
  static let png = fixture("picture.png")
  static let mp3 = fixture("song.mp3")
  static let mp4 = fixture("clip.mp4")

  /// A file of Fixtures/media; empty if it is missing, which the tests of the fixtures detect.
  static func fixture(_ name: String) -> [UInt8] {
    (try? Data(contentsOf: MediaFixture.folder.appending(path: name))).map { [UInt8]($0) } ?? []
  }

  /// The file with zeros after it, which decoders and detectors ignore.
  static func padded(_ bytes: [UInt8], to count: Int) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: count - bytes.count)
  }

  static func sha256(_ bytes: [UInt8]) -> String {
    SHA256.hash(Array(bytes)).hexadecimal()
  }
}
