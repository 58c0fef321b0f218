import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct HTTPCacheTests {
  /// A cache that looks URLs up and keeps rows, turn after turn, until it has kept so many.
  private final class CacheThread: @unchecked Sendable {
    private let loop: EventLoop
    private let cache: HTTPCache
    private let gate = URLGate(URLPolicy())
    private let name: String
    private let store: AttachmentStore
    private var kept = 0

    init(_ name: String, _ store: AttachmentStore) throws {
      (self.name, self.store) = (name, store)
      loop = try EventLoop()
      cache = HTTPCache(loop: loop, store: store, limits: MediaLimits(), roots: [])
      loop.atTurnEnd { [weak self] in self?.cache.turnEnded() }
    }

    /// - Parameter done: is told the size of the index's log then, in bytes.
    func keep(_ count: Int, of file: StoredFile, _ done: @escaping @Sendable (Int64) -> Void) {
      loop.post { [self] in
        turn(count, file) { [self] in
          done(store.root.status(of: "index.sqlite-wal")?.size ?? 0)
          _ = cache.close()
          loop.stop()
        }
      }
    }

    private func turn(_ count: Int, _ file: StoredFile, _ done: @escaping @Sendable () -> Void) {
      for _ in 0..<16 {
        guard let url = try? gate.check("https://cdn.example/\(name)/\(kept)"), case .nothing(let key, _) = cache.lookUp(url, .full) else {
          continue
        }
        cache.keep(
          CacheEntry(key: key, file: file, fields: CacheFields(), entityTag: "\"v\"", expiry: .zero, pixels: 1, isPublic: true, lastUse: 0),
          for: url.text)
        kept += 1
      }
      loop.post { self.kept < count ? self.turn(count, file, done) : done() }
    }
  }

  @Test func `the index's log stays small while two loops look up and write without a pause`() async throws {
    let folder = AttachmentStoreTestFolder()
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 1_000_000_000, maximumAge: .seconds(3600))
    let file = try store.add([1])
    _ = store.createIndex()
    let (one, other) = (try CacheThread("a", store), try CacheThread("b", store))
    let (sizes, continuation) = AsyncStream<Int64>.makeStream()
    for cache in [one, other] { cache.keep(30_000, of: file) { continuation.yield($0) } }
    var largest: Int64 = 0
    for await size in sizes.prefix(2) { largest = max(largest, size) }
    // 4 MB are written before the log is begun anew; a reader may put that off for some
    // transactions.
    #expect(largest < 32_000_000)
    #expect(try #require(store.root.status(of: "index.sqlite")?.size) > 1_000_000)
  }
}
