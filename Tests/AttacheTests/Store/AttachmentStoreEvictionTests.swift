@testable import Attache
import Testing

@Suite struct AttachmentStoreEvictionTests {
  private let limits = StoreEviction.Limits(maximumBytes: 160, maximumAge: .seconds(1000))

  /// A file of 10 bytes, last used this many seconds before the time 10,000.
  private func entry(_ number: UInt8, age: Int, size: Int64 = 10) -> StoreEviction.Entry {
    let name = StoreName(digest: [UInt8](repeating: number, count: 32), type: .png)
    return StoreEviction.Entry(name: name, size: size, lastUse: .seconds(10_000 - age))
  }

  private func victims(_ entries: [StoreEviction.Entry], pinned: Set<StoreName> = [], isShared: Bool = false) -> [StoreEviction.Entry] {
    StoreEviction(limits: limits, now: .seconds(10_000), isShared: isShared).victims(among: entries) { pinned.contains($0) }
  }

  @Test func `a store within its bounds gives up nothing`() {
    #expect(victims([]).isEmpty)
    #expect(victims([entry(1, age: 1000, size: 160)]).isEmpty)
  }

  @Test func `what is older than the largest age goes, the oldest first`() {
    #expect(victims([entry(1, age: 1001), entry(2, age: 1000), entry(3, age: 1002)]) == [entry(3, age: 1002), entry(1, age: 1001)])
  }

  @Test func `the least recently used go until the rest is a sixteenth below the maximum`() {
    let entries = (1...17).map { entry(UInt8($0), age: 100 - $0) }
    #expect(victims(entries) == [entries[0], entries[1]])
  }

  @Test func `a store of exactly its maximum is not too large`() {
    #expect(victims((1...16).map { entry(UInt8($0), age: $0) }).isEmpty)
  }

  @Test func `a pinned file stays, and the next one goes in its place`() {
    let entries = [entry(1, age: 2000), entry(2, age: 20, size: 100), entry(3, age: 10, size: 100)]
    #expect(victims(entries, pinned: [entries[0].name]) == [entries[1]])
  }

  @Test func `of a shared store, what was used in the last eleven minutes stays`() {
    let entries = [entry(1, age: 661, size: 100), entry(2, age: 660, size: 100), entry(3, age: 0, size: 100)]
    #expect(victims(entries, isShared: true) == [entries[0]])
    #expect(victims(entries, isShared: false) == [entries[0], entries[1]])
  }

  @Test func `a file of the future, after the clock was set back, is the last to go`() {
    let entries = [entry(1, age: -5000, size: 100), entry(2, age: 100, size: 100)]
    #expect(victims(entries) == [entries[1]])
    #expect(victims([entries[0]]).isEmpty)
  }

  @Test func `a prune is needed for size or for age`() {
    let eviction = StoreEviction(limits: limits, now: .seconds(10_000), isShared: false)
    #expect(!eviction.isNeeded(bytes: 160, oldest: .seconds(9000)))
    #expect(!eviction.isNeeded(bytes: 0, oldest: nil))
    #expect(eviction.isNeeded(bytes: 161, oldest: .seconds(10_000)))
    #expect(eviction.isNeeded(bytes: 1, oldest: .seconds(8999)))
  }

  @Test func `a name survives being written and read`() throws {
    let name = StoreName(digest: (0..<32).map { $0 * 7 + 130 & 0xff }.map { UInt8(truncatingIfNeeded: $0) }, type: .mpeg4Audio)
    #expect(StoreName(folder: name.folder, fileName: name.fileName) == name)
    #expect(StoredFile(sha256: name.sha256, type: .mpeg4Audio, size: 1)?.name == name)
  }

  @Test(arguments: ["", ".", "png", ".png", "{}.svg", "{}.png.png", "{}.PNG", "{}", "x{}.png", "{}0.png", "{}.png~"])
  func `a name that the store does not give is not its own`(template: String) {
    let hash = "3f" + String(repeating: "0", count: 62)
    let name = template.split(separator: "{}", omittingEmptySubsequences: false).joined(separator: hash)
    #expect(StoreName(folder: "3f", fileName: "\(hash).png") != nil)
    #expect(StoreName(folder: "3e", fileName: "\(hash).png") == nil)
    #expect(StoreName(folder: "3f", fileName: name) == nil)
  }
}
