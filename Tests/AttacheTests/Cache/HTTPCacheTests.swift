import AttacheTesting
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct HTTPCacheTests {
  /// A cache that looks up URLs and stores rows in turns, until it has stored this many.
  private final class CacheThread: @unchecked Sendable {
    private let loop: EventLoop
    private let cache: HTTPCache
    private let gate = URLGate(URLPolicy())
    private let name: String
    private let store: AttachmentStore
    private var kept = 0

    init(_ name: String, _ store: AttachmentStore, _ machine: any Machine) throws {
      (self.name, self.store) = (name, store)
      loop = try EventLoop(machine: machine)
      cache = HTTPCache(loop: loop, store: store, limits: MediaLimits(), roots: [])
      loop.atTurnEnd { [weak self] in self?.cache.turnEnded() }
    }

    /// - Parameter done: called at the end with the size of the index's log in bytes.
    func keep(_ count: Int, of file: StoredFile, _ done: @escaping @Sendable (Int64) -> Void) {
      loop.post { [self] in
        turn(count, file) { [self] in
          done(store.root.status(of: ".index/index.sqlite-wal")?.size ?? 0)
          _ = cache.close()
          loop.stop()
        }
      }
    }

    private func turn(_ count: Int, _ file: StoredFile, _ done: @escaping @Sendable () -> Void) {
      for _ in 0..<16 {
        guard let url = try? gate.check("https://cdn.example/\(name)/\(kept)"), case .nothing(let key, _) = cache.lookUp(url, [], .full)
        else {
          continue
        }
        cache.keep(
          CacheEntry(key: key, file: file, fields: CacheFields(), entityTag: "\"v\"", expiry: .zero, pixels: 1, isPublic: true, lastUse: 0))
        kept += 1
      }
      loop.post { self.kept < count ? self.turn(count, file, done) : done() }
    }
  }

  /// The loops take turns on a simulated machine. On a real one, a suspended reader thread would
  /// delay the restart of the log.
  @Test func `the index's log stays small while two loops look up and write without a pause`() throws {
    let folder = AttachmentStoreTestFolder()
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 1_000_000_000, maximumAge: .seconds(3600))
    let file = try store.add([1])
    _ = store.createIndex()
    let simulation = Simulation(seed: 1)
    let sizes = Mutex<[Int64]>([])
    _ = try simulation.run {
      for name in ["a", "b"] {
        let cache = try? CacheThread(name, store, simulation)
        cache?.keep(30_000, of: file) { size in sizes.withLock { $0.append(size) } }
      }
    }
    let largest = sizes.withLock { $0.count == 2 ? $0.max() : nil }
    // The log restarts after 4 MB. A reader may delay this for some transactions.
    #expect(try #require(largest) < 32_000_000)
    #expect(try #require(store.root.status(of: ".index/index.sqlite")?.size) > 1_000_000)
  }
}
