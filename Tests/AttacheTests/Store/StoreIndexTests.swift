@testable import Attache
import Glibc
import Testing

/// The rows of the index. The tests of the fetcher cover the HTTP rules.
@Suite(.timeLimit(.minutes(1))) struct StoreIndexTests {
  let folder = AttachmentStoreTestFolder()
  let clock = TestWallClock()

  private func store(maximumBytes: Int64 = 1_000_000, maximumAge: Duration = .seconds(3600)) throws -> AttachmentStore {
    try AttachmentStore(directory: folder.path, maximumBytes: maximumBytes, maximumAge: maximumAge) { [clock] in clock.now }
  }

  private func row(_ url: String, _ file: StoredFile? = nil, note: [UInt8] = [1, 2, 3]) throws -> IndexRow {
    let file = try file ?? #require(StoredFile(sha256: String(repeating: "a", count: 64), type: .gif, size: 14))
    let name = file.name
    return IndexRow(key: IndexKey(url), name: name, size: Int64(file.size), lastUse: clock.now.components.seconds, note: note)
  }

  @Test func `rows are found again, by this connection and by another`() throws {
    let store = try store()
    let index = store.makeIndex()
    #expect(index.rows(for: [IndexKey("a")]) == [nil])
    #expect(folder.files.isEmpty, "a query creates no files")
    let (a, b) = (try row("a"), try row("b", note: []))
    index.write([.keep(a), .keep(b)])
    #expect(index.rows(for: [IndexKey("b"), IndexKey("c"), IndexKey("a")]) == [b, nil, a])
    #expect(try self.store().makeIndex().rows(for: [IndexKey("a")]) == [a])
    let newer = try row("a", note: [9])
    index.write([.keep(newer), .forget(IndexKey("b")), .forget(IndexKey("c"))])
    #expect(index.rows(for: [IndexKey("a"), IndexKey("b")]) == [newer, nil])
  }

  @Test func `the bytes of a row that were torn, cut or swapped are no row`() throws {
    let bytes = try row("a").bytes
    #expect(IndexRow(bytes) != nil)
    for position in bytes.indices {
      var torn = bytes
      torn[position] ^= 1
      #expect(IndexRow(torn) == nil)
      #expect(IndexRow(Array(bytes[..<position])) == nil)
    }
  }

  @Test func `a row that stands where another belongs is not there, and is replaced`() throws {
    let store = try store()
    let index = store.makeIndex()
    index.write([.keep(try row("a")), .keep(try row("b"))])
    index.close()
    let connection = try IndexConnection(store.indexPath, busyTimeout: 0)
    try connection.run("UPDATE entry SET row=(SELECT row FROM entry ORDER BY id DESC LIMIT 1)")
    let again = store.makeIndex()
    let kept = again.rows(for: [IndexKey("a"), IndexKey("b")]).compactMap(\.self)
    #expect(kept.count == 1)
    let missing = kept[0].key == IndexKey("a") ? "b" : "a"
    again.write([.keep(try row(missing))])
    #expect(again.rows(for: [IndexKey("a"), IndexKey("b")]).allSatisfy { $0 != nil })
  }

  @Test func `what is no index is set aside, once, and a new one is begun`() throws {
    let store = try store()
    folder.makeFolder(".index")
    folder.write([UInt8](repeating: 7, count: 10_000), to: ".index/index.sqlite")
    let index = store.makeIndex()
    #expect(index.rows(for: [IndexKey("a")]) == [nil])
    #expect(index.warning?.contains(".index/index.sqlite.damaged") == true)
    let row = try row("a")
    index.write([.keep(row)])
    #expect(index.rows(for: [IndexKey("a")]) == [row])
    #expect(folder.bytes(".index/index.sqlite.damaged") == [UInt8](repeating: 7, count: 10_000))
  }

  @Test func `of four that find the same file damaged one sets it aside, and all write into the new one`() async throws {
    folder.makeFolder(".index")
    for _ in 0..<100 {
      folder.write([UInt8](repeating: 7, count: 10_000), to: ".index/index.sqlite")
      let rows = try (0..<4).map { try row("\($0)") }
      // Each has its own store, as the processes of a run do.
      let stores = try rows.map { _ in try store() }
      await withTaskGroup { group in
        for (store, row) in zip(stores, rows) {
          group.addTask {
            let index = store.makeIndex()
            _ = index.rows(for: [row.key])
            index.write([.keep(row)])
            index.close()
          }
        }
      }
      try #require(store().makeIndex().rows(for: rows.map(\.key)) == rows)
    }
  }

  @Test func `what met a damaged file is written into the new one`() throws {
    let store = try store()
    folder.makeFolder(".index")
    folder.write([UInt8](repeating: 7, count: 10_000), to: ".index/index.sqlite")
    let index = store.makeIndex()
    let row = try row("a")
    index.write([.keep(row)])
    #expect(index.warning != nil)
    index.close()
    #expect(store.makeIndex().rows(for: [row.key]) == [row])
  }

  @Test func `a page that is damaged costs the index, not the run`() throws {
    let store = try store()
    let index = store.makeIndex()
    index.write(try (0..<2_000).map { .keep(try row("\($0)")) })
    index.close()
    var bytes = try #require(folder.bytes(".index/index.sqlite"))
    for offset in 4_096..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
    folder.write(bytes, to: ".index/index.sqlite")
    let again = store.makeIndex()
    #expect(again.rows(for: [IndexKey("7")]) == [nil])
    #expect(again.warning != nil)
    again.write([.keep(try row("7"))])
    #expect(again.rows(for: [IndexKey("7")]) != [nil])
  }

  @Test func `a database of somebody else's is set aside too`() throws {
    let store = try store()
    folder.makeFolder(".index")
    folder.write(try IndexConnection.emptyFile(tables: "CREATE TABLE other(id INTEGER)", pageSize: 4_096), to: ".index/index.sqlite")
    let index = store.makeIndex()
    #expect(index.rows(for: [IndexKey("a")]) == [nil])
    #expect(index.warning != nil)
  }

  @Test func `a symbolic link, a folder or nothing that could be opened is no index, and stays`() throws {
    folder.makeFolder("elsewhere")
    folder.makeFolder(".index")
    folder.link(".index/index.sqlite", to: folder["elsewhere/index.sqlite"])
    let store = try store()
    let index = store.makeIndex()
    index.write([.keep(try row("a"))])
    #expect(index.rows(for: [IndexKey("a")]) == [nil])
    #expect(index.warning == nil)
    #expect(folder.files == [".index/index.sqlite"])
    folder.remove(".index/index.sqlite")
    folder.makeFolder(".index/index.sqlite")
    let again = store.makeIndex()
    again.write([.keep(try row("a"))])
    #expect(again.rows(for: [IndexKey("a")]) == [nil])
  }

  @Test func `while another holds the lock nothing is waited for, and what was to be written is written later`() throws {
    let store = try store()
    let index = store.makeIndex()
    let (a, b) = (try row("a"), try row("b"))
    index.write([.keep(a)])
    let other = try IndexConnection(store.indexPath, busyTimeout: 0)
    try other.run("BEGIN IMMEDIATE")
    index.write([.keep(b)])
    #expect(index.rows(for: [IndexKey("a"), IndexKey("b")]) == [a, nil])
    try other.run("ROLLBACK")
    index.write([])
    #expect(index.rows(for: [IndexKey("a"), IndexKey("b")]) == [a, b])
  }

  @Test func `two indexes written in turn have what both have written`() throws {
    let store = try store()
    let (one, two) = (store.makeIndex(), store.makeIndex())
    for number in 0..<50 {
      one.write([.keep(try row("one \(number)")), .keep(try row("both \(number)", note: [1]))])
      two.write([.keep(try row("two \(number)")), .keep(try row("both \(number)", note: [2]))])
    }
    let keys = (0..<50).flatMap { ["one \($0)", "two \($0)", "both \($0)"] }.map { IndexKey($0) }
    one.endReading()
    #expect(one.rows(for: keys).allSatisfy { $0 != nil })
    #expect(two.rows(for: [IndexKey("both 7")])[0]?.note == [2])
  }

  @Test(arguments: [(0o700, 0o700), (0o750, 0o700), (0o755, 0o700), (0o2750, 0o2700), (0o770, 0o770), (0o2775, 0o2770), (0o1777, 0o1777)])
  func `only those may open the index who may write the store`(ofStore mode: mode_t, ofIndex: mode_t) throws {
    folder.setMode("", mode)
    let store = try store()
    store.makeIndex().write([.keep(try row("a"))])
    #expect(folder.mode(".index") == ofIndex)
    #expect(folder.mode(".index/index.sqlite") == mode & 0o666)
  }

  @Test func `a symbolic link is no folder of the index`() throws {
    folder.makeFolder("elsewhere")
    folder.link(".index", to: folder["elsewhere"])
    let (store, row) = (try store(), try row("a"))
    let index = store.makeIndex()
    index.write([.keep(row)])
    #expect(index.rows(for: [row.key]) == [nil])
    #expect(folder.files == [".index"])
    folder.write(try IndexConnection.emptyFile(tables: OpenIndex.tables, pageSize: OpenIndex.pageSize), to: "elsewhere/index.sqlite")
    let again = store.makeIndex()
    again.write([.keep(row)])
    #expect(again.rows(for: [row.key]) == [nil])
  }

  // MARK: Pruning

  @Test func `rows go with their file, and when they were of no use for long`() throws {
    let store = try store(maximumAge: .seconds(3600))
    let (kept, gone) = (try store.add([1]), try store.add([2]))
    let index = store.makeIndex()
    index.write([
      .keep(try row("kept", kept)), .keep(try row("gone", gone)),
      .keep(try row("resized", StoredFile(kept.name, size: 9))),
    ])
    clock.turn(by: .seconds(60))
    index.write([.keep(try row("used later", kept))])
    folder.remove(gone.relativePath)
    index.endReading()
    try store.prune()
    let keys = ["kept", "gone", "resized", "used later"].map { IndexKey($0) }
    #expect(index.rows(for: keys).map { $0 != nil } == [true, false, false, true])
    index.endReading()
    clock.turn(by: .seconds(3600 - 30))
    folder.setLastUse(kept.relativePath, clock.now)
    try store.prune()
    #expect(index.rows(for: keys).map { $0 != nil } == [false, false, false, true])
  }

  @Test func `an index beyond its share loses what was written first`() throws {
    let store = try store(maximumBytes: 1_000_000)
    let file = try store.add([1])
    let index = store.makeIndex()
    for batch in 0..<40 {
      index.write(try (0..<250).map { .keep(try row("\(batch) \($0)", file, note: [UInt8](repeating: 1, count: 100))) })
    }
    index.close()
    try store.prune()
    let size = try #require(store.root.status(of: ".index/index.sqlite")?.size)
    #expect(size <= 1 << 20)
    let after = store.makeIndex()
    #expect(after.rows(for: [IndexKey("0 0")]) == [nil])
    after.endReading()
    after.write([.keep(try row("new", file))])
    #expect(after.rows(for: [IndexKey("new")]) != [nil])
  }

  @Test func `the code of each type on disk stays the same`() {
    let types: [MediaType] = [.jpeg, .gif, .png, .aiff, .wave, .mp3, .mpeg4Audio, .mpeg, .mpeg2, .mpeg4, .avi]
    #expect(types.map(\.indexCode) == Array(0...10))
    #expect(Set(MediaType.allCases.map(\.indexCode)).count == MediaType.allCases.count)
    #expect(MediaType.allCases.allSatisfy { MediaType(indexCode: $0.indexCode) == $0 })
    #expect(MediaType(indexCode: 255) == nil)
  }
}

extension StoreIndex {
  fileprivate func rows(for keys: [IndexKey]) -> [IndexRow?] {
    keys.map { row(for: $0) }
  }
}
