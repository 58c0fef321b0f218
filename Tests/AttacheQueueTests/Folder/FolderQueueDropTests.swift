import CoreFoundation
import Attache
import AttacheQueue
import Foundation
import Glibc
import Synchronization
import Testing

@Suite struct FolderQueueDropTests {
  @Test func `dropped files are worked by time and then by name, and their results are found under their names`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("{\"b\":1}", as: "b.json")
    try folder.drop("{\"a\":1}\n", as: "a.json")
    try folder.drop("{\"old\":1}\n", as: "z.json", age: 60)
    #expect(try folder.queue.counts().ready == 3)
    let leases = try folder.queue.lease()
    #expect(leases.map(\.text) == ["{\"old\":1}", "{\"a\":1}", "{\"b\":1}"])
    #expect(leases.map(\.token.id) == [1, 2, 3])
    #expect(folder.names("new").isEmpty)
    let dead = FinishedPayload(leases[2].token, outcome: .fallback, reason: nil, isDead: true, record: leases[2].record)
    #expect(try folder.queue.finish([leases[0].finished(.attached, output: "media\n"), leases[1].finished(), dead]) == [])
    #expect(folder.names("done") == ["1-z.json", "1-z.json.record", "2-a.json", "2-a.json.record"])
    #expect(folder.text("done/1-z.json") == "media\n")
    #expect(folder.text("done/1-z.json.record") == "{\"line\":1}\n")
    #expect(folder.text("done/2-a.json") == "{\"a\":1}\n")
    #expect(folder.names("dead") == ["3-b.json", "3-b.json.record"])
    #expect(folder.text("dead/3-b.json") == "{\"b\":1}")
    #expect(try folder.queue.lines() == ["media\n", "{\"a\":1}\n", "{\"b\":1}"])
  }

  @Test func `very many files are listed once for several batches, and each is taken in once`() throws {
    let folder = try TestFolderQueue()
    for number in 1...4_100 { try folder.drop("{}", as: "\(10_000 + number)") }
    let other = try folder.test.open()
    #expect(try folder.queue.claim(.upTo(1)).next == .zero)
    #expect(folder.names("new") == ["14097", "14098", "14099", "14100"])
    // Others change the folder meanwhile: an older file arrives after the listing, and a listed
    // file disappears.
    try folder.drop("{\"old\":1}", as: "older", age: 60)
    try FileManager.default.removeItem(atPath: folder.path("new/14098"))
    #expect(try folder.queue.claim(.upTo(1)).next == .zero)
    #expect(folder.names("new") == ["older"])
    try folder.drop("{}", as: "newer")
    #expect(try other.claim(.upTo(1)).leases.count == 1)
    #expect(try folder.queue.claim(.upTo(1)).leases.count == 1)
    #expect(try folder.queue.counts().total == 4_101)
    #expect(folder.names("new") == [])
    #expect(folder.notices.all == [])
    other.close()
  }

  @Test func `what begins with a dot, and what is no file, stays, and the log says so once`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("{}", as: ".hidden")
    try FileManager.default.createDirectory(atPath: folder.path("new/folder\n"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: folder.path("new/link"), withDestinationPath: "/etc/passwd")
    #expect(unsafe mkfifo(folder.path("new/pipe"), 0o600) == 0)
    for _ in 0..<2 {
      let claim = try folder.queue.claim(.upTo(10))
      #expect(claim.leases == [])
      #expect(claim.next == nil)
      #expect(try folder.queue.counts().total == 0)
    }
    #expect(folder.names("new") == [".hidden", "folder\n", "link", "pipe"])
    #expect(folder.notices.all.count == 1)
    let path = folder.test.path
    let notice = folder.notices.all.first?.replacing(path, with: "PATH").replacing("/private", with: "")
    #expect(notice?.hasSuffix("PATH/new/folder\\u{A}: is not a regular file and stays there; so do 2 more") == true)
  }

  @Test func `whoever is told of a file does not have the queue's lock`() throws {
    let test = try TestQueue(.folder)
    let free = Mutex<[Bool]>([])
    let path = test.path
    let queue = try test.open(notice: { _ in
      let lock = unsafe open(path + "/lock", O_RDONLY | O_CLOEXEC)
      free.withLock { $0.append(flock(lock, LOCK_EX | LOCK_NB) == 0) }
      close(lock)
    })
    try FileManager.default.createDirectory(atPath: path + "/new/folder", withIntermediateDirectories: false)
    _ = try queue.claim(.upTo(1))
    #expect(free.withLock(\.self) == [true])
  }

  @Test func `a name that ends in a carriage return is taken in once`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("{\n\"a\":1}\n", as: "cat\r")
    for _ in 0..<2 { _ = try folder.queue.finish(folder.queue.lease().map { $0.finished() }) }
    #expect(try folder.queue.counts().total == 1)
    #expect(try folder.queue.lines() == ["{ \"a\":1}\n"])
    #expect(folder.names("new") == [])
    #expect(folder.names("done") == ["1-cat_", "1-cat_.record"])
  }

  @Test func `a name of any bytes is taken in, and its result has a name that can be shown`() throws {
    let folder = try TestFolderQueue()
    let names: [[UInt8]] = [
      [0xFF, 0xFE, 0x61], Array("a\u{85}b\u{202E}c\u{1B}[2J".utf8), [0x61, 0x0A], [0x2D, 0x2D, 0x2E, 0x2E], Array("cafe\u{301}".utf8),
    ]
    for name in names {
      let file = unsafe open(
        Array(folder.path("new/").utf8CString.dropLast()) + name.map(CChar.init(bitPattern:)) + [0], O_WRONLY | O_CREAT, 0o600)
      #expect(file >= 0)
      close(file)
    }
    #expect(try folder.queue.finish(folder.queue.lease().map { $0.finished() }) == [])
    let found = folder.names("done").filter { !$0.hasSuffix(".record") }.map { $0.drop { $0 != "-" }.dropFirst() }
    #expect(Set(found.map { Array($0.utf8) }) == Set(["__a", "a_b_c_[2J", "a_", "--..", "cafe\u{301}"].map { Array($0.utf8) }))
    #expect(folder.names("new") == [])
  }

  @Test(arguments: [Int.max, Int.min, 9_223_372_037, -9_223_372_037])
  func `a file from another age is taken in`(seconds: Int) throws {
    let folder = try TestFolderQueue()
    try folder.drop("{}", as: "b")
    let file = unsafe open(folder.path("new/a"), O_WRONLY | O_CREAT, 0o600)
    // The file system rounds the time.
    #expect(unsafe futimens(file, [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 999_999_999)]) == 0)
    close(file)
    #expect(try folder.queue.counts().ready == 2)
    #expect(try folder.queue.lease().map(\.text) == (seconds > 0 ? ["{}", ""] : ["", "{}"]))
  }

  @Test func `two files of one name, one after the other, are two payloads with two results`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("first", as: "cat.json")
    let first = try folder.queue.lease()
    try folder.drop("second", as: "cat.json")
    let second = try folder.queue.lease()
    _ = try folder.queue.finish((first + second).map { $0.finished() })
    #expect(try folder.queue.lines() == ["first", "second"])
    #expect(folder.names("done") == ["1-cat.json", "1-cat.json.record", "2-cat.json", "2-cat.json.record"])
    #expect(folder.text("done/1-cat.json") == "first")
  }

  @Test func `an object that is written over several lines becomes one line, and means the same`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("{\r\n  \"aps\": {\n    \"alert\": \"a\\nb\"\n  }\n}\n", as: "pretty.json")
    try folder.drop("{}\n\n", as: "twice.json", age: -1)
    let leases = try folder.queue.lease()
    #expect(
      leases.map { $0.line.map { String(decoding: $0, as: UTF8.self) } } == ["{    \"aps\": {     \"alert\": \"a\\nb\"   } }\n", "{} \n"])
    _ = try folder.queue.finish(leases.map { $0.finished() })
    #expect(folder.names("new").isEmpty)
    #expect(folder.text("done/2-twice.json") == "{} \n")
  }

  @Test func `what is no JSON leaves byte for byte, whatever line feeds it has`() throws {
    let folder = try TestFolderQueue()
    let texts = ["one\ntwo\r\n\n", "{\"a\":\"b\nc\"}\n", "{}\n{}\n", ""]
    for (index, text) in texts.enumerated() { try folder.drop(text, as: "\(index)") }
    let leases = try folder.queue.lease()
    _ = try folder.queue.finish(leases.map { $0.finished(.invalid) })
    #expect(try folder.queue.lines() == texts)
  }

  @Test func `the priority and the expiry are those of the envelope`() throws {
    let folder = try TestFolderQueue()
    let gorush = """
      {"notifications":[{"tokens":["t"],"platform":1,"message":"low","priority":"normal","expiration":1894000000}]}
      """
    try folder.drop(gorush, as: "1", age: 9)
    try folder.drop("{\"aps\":{}}", as: "2")
    let leases = try folder.queue.lease()
    #expect(leases.map(\.token.id) == [2, 1])
    #expect(leases.map(\.expiresAt) == [nil, .seconds(1_894_000_000)])
  }

  @Test func `names of any kind and length are kept as far as a name goes`() throws {
    let folder = try TestFolderQueue()
    let names = ["a b\tc\n%09;,.json", String(repeating: "ü", count: 120) + ".json", "-", "x.record", "…"]
    for (index, name) in names.enumerated() { try folder.drop("\(index)", as: name, age: TimeInterval(-index)) }
    let leases = try folder.queue.lease()
    #expect(leases.map(\.text) == ["0", "1", "2", "3", "4"])
    _ = try folder.queue.finish(leases.map { $0.finished() })
    #expect(
      folder.names("done").filter { !$0.hasSuffix(".record") || $0.hasSuffix("x.record") }.contains("1-a b_c_%09;,.json"))
    #expect(folder.text("done/2-" + String(repeating: "ü", count: 27) + ".json") == "1")
    #expect(folder.text("done/4-x.record") == "3")
    #expect(try folder.queue.lines() == ["0", "1", "2", "3", "4"])
  }

  @Test func `a file that is longer than a queue takes is put aside`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("", as: "long")
    let file = try FileHandle(forWritingTo: URL(filePath: folder.path("new/long")))
    try file.truncate(atOffset: UInt64(NewPayload.maximumLine) + 1)
    try file.close()
    #expect(try folder.queue.claim(.upTo(10)).next == nil)
    #expect(folder.names("refused") == ["long"])
    #expect(
      folder.notices.all.first?.hasSuffix("refused/long: the file is longer than 64 MiB, the limit of a queue and was moved there")
        == true)
  }

  @Test func `a second file that is put aside does not take the place of the first`() throws {
    let folder = try TestFolderQueue()
    for size in 1...2 as ClosedRange<UInt64> {
      try folder.drop("", as: "long")
      let file = try FileHandle(forWritingTo: URL(filePath: folder.path("new/long")))
      try file.truncate(atOffset: UInt64(NewPayload.maximumLine) + size)
      try file.close()
      #expect(try folder.queue.lease().isEmpty)
    }
    #expect(folder.names("refused").count == 2)
  }

  @Test func `whoever takes results away has had them`() throws {
    let folder = try TestFolderQueue()
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    _ = try folder.queue.finish(try folder.queue.lease().map { $0.finished(.fallback) })
    for name in ["1-a", "1-a.record"] { try FileManager.default.removeItem(atPath: folder.path("done/" + name)) }
    #expect(try folder.queue.counts().unread == 1)
    #expect(try folder.queue.lines() == ["b"])
    #expect(try folder.queue.retry(nil) == 1)
    #expect(try folder.queue.lease().map(\.text) == ["b"])
    #expect(try folder.queue.purge(olderThan: .zero, includesUndelivered: true).payloads == 1)
  }

  @Test func `files that were taken away free what their results held, and do not come back`() throws {
    let folder = try TestFolderQueue()
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    _ = try folder.queue.finish(try folder.queue.lease().map { $0.finished(.attached, output: "x\n", holds: ["/held/\($0.token.id)"]) })
    for name in ["1-a", "1-a.record"] { try FileManager.default.removeItem(atPath: folder.path("done/" + name)) }
    #expect(try folder.queue.results(ResultRequest(onlyUnread: true)).entries.map(\.id) == [2])
    #expect(try folder.queue.markRead([2]).sorted() == ["/held/1", "/held/2"])
    folder.queue.close()
    let again = try folder.test.open()
    #expect(try again.lease().isEmpty)
    #expect(folder.names("done") == ["2-b", "2-b.record"])
    #expect(try again.counts().unread == 0)
  }

  @Test func `a result that is retried leaves no file until it has another`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("a", as: "a")
    let lease = try folder.queue.leaseOne()
    _ = try folder.queue.finish([FinishedPayload(lease.token, outcome: .fallback, reason: nil, isDead: true, record: lease.record)])
    #expect(folder.names("dead") == ["1-a", "1-a.record"])
    #expect(try folder.queue.retry(nil) == 1)
    #expect(folder.names("dead") == [])
    _ = try folder.queue.finish([folder.queue.leaseOne().finished(.attached, output: "media\n")])
    #expect(folder.names("dead") == [])
    #expect(folder.text("done/1-a") == "media\n")
  }

  @Test func `five thousand dropped files are all worked, in order`() throws {
    let folder = try TestFolderQueue()
    for number in 10_000..<15_000 {
      let file = unsafe open(folder.path("new/\(number)"), O_WRONLY | O_CREAT, 0o600)
      let bytes = Array("\(number)\n".utf8)
      #expect(unsafe write(file, bytes, bytes.count) == bytes.count)
      // All have the same time, so the names decide the order.
      #expect(unsafe futimens(file, [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]) == 0)
      close(file)
    }
    var worked: [String] = []
    while true {
      let claim = try folder.queue.claim(.upTo(500))
      guard !claim.leases.isEmpty else { break }
      worked += claim.leases.map(\.text)
      #expect(try folder.queue.finish(claim.leases.map { $0.finished() }) == [])
    }
    #expect(worked == (10_000..<15_000).map(String.init))
    #expect(try folder.queue.counts().done == 5_000)
  }

  @Test func `a purged queue is left with nothing but its own`() throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue(["a", "b", "c"].map { text in NewPayload(text) { $0.key = Array(text.utf8) } })
    let leases = try folder.queue.lease()
    _ = try folder.queue.finish([
      leases[0].finished(.attached, output: "media\n", holds: ["/held/one"]), leases[1].finished(.fallback, output: "changed\n"),
      leases[2].finished(),
    ])
    #expect(try folder.queue.purge(olderThan: .zero, includesUndelivered: true).released == ["/held/one"])
    #expect(folder.files.filter { !$0.hasPrefix("queue.sqlite") } == ["lock"])
  }
}
