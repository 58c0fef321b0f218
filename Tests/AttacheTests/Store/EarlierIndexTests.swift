@testable import Attache
import Testing

/// The index that earlier versions keep beside the attachments.
@Suite(.timeLimit(.minutes(1))) struct EarlierIndexTests {
  let folder = AttachmentStoreTestFolder()

  /// Opens an index where earlier versions have it.
  private func earlierIndex() throws -> IndexConnection {
    folder.write(try IndexConnection.emptyFile(tables: OpenIndex.tables, pageSize: OpenIndex.pageSize), to: "index.sqlite")
    let connection = try IndexConnection(folder["index.sqlite"], patience: 0)
    try connection.run("INSERT INTO entry(row) VALUES(x'01')")
    return connection
  }

  private func rows(in connection: IndexConnection) throws -> Int64 {
    var count: Int64 = 0
    try connection.prepare("SELECT count(*) FROM entry").run { count = $0.number(0) }
    return count
  }

  @Test func `a process of an earlier version keeps the index that it has open, and a later prune removes it`() throws {
    let store = try folder.store()
    let (index, file) = (store.makeIndex(), try store.add([1]))
    let row = IndexRow(key: IndexKey("a"), name: file.name, size: 1, lastUse: store.clock().components.seconds, note: [])
    var earlier: IndexConnection? = try earlierIndex()
    index.write([.keep(row)])
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] { #expect(folder.files.contains(name)) }
    let before = try #require(store.root.status(of: "index.sqlite"))
    try store.prune()
    #expect(store.root.status(of: "index.sqlite") == before)
    try earlier?.run("INSERT INTO entry(row) VALUES(x'02')")
    #expect(try earlier.map(rows) == 2)
    earlier = nil
    folder.write([7], to: "index.sqlite.damaged")
    try store.prune()
    #expect(!folder.files.contains { $0.hasPrefix("index.sqlite") })
    #expect(index.row(for: row.key) == row)
  }

  @Test func `the log of an earlier version that was killed goes with its index`() throws {
    // A copy of the files of an open index is what a killed process leaves.
    let earlier = try earlierIndex()
    let files = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"].map { ($0, folder.bytes($0)) }
    withExtendedLifetime(earlier) {}
    let left = AttachmentStoreTestFolder()
    for (name, bytes) in files { left.write(try #require(bytes), to: name) }
    try left.store().prune()
    #expect(left.files.isEmpty)
  }

  @Test func `what has the name of an earlier index and is no database stays`() throws {
    folder.write([UInt8](repeating: 7, count: 10_000), to: "index.sqlite")
    try folder.store().prune()
    #expect(folder.files == ["index.sqlite"])
  }
  @Test func `a store that was moved away keeps its index, even if another store has taken its path`() throws {
    folder.makeFolder("store")
    let store = try AttachmentStore(directory: folder["store"], maximumBytes: 1000, maximumAge: .seconds(1))
    let index = try IndexConnection.emptyFile(tables: OpenIndex.tables, pageSize: OpenIndex.pageSize)
    folder.write(index, to: "store/index.sqlite")
    folder.move("store", to: "moved")
    folder.makeFolder("store")
    folder.write(index, to: "store/index.sqlite")
    try store.prune()
    #expect(folder.files == ["moved/index.sqlite", "store/index.sqlite"])
  }
}
