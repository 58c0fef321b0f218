import CoreFoundation
import Attache
@testable import AttacheQueue
import Foundation
import Glibc
import Testing

@Suite struct DropFolderTests {
  @Test(arguments: QueueBackend.allCases)
  func `dropped files are added by time and then by name, and removed`(_ backend: QueueBackend) throws {
    let folder = try TestDropFolder(backend)
    try folder.drop("{\"b\":1}", as: "b.json")
    try folder.drop("{\"a\":1}\n", as: "a.json")
    try folder.drop("{\"old\":1}\n", as: "z.json", age: 60)
    let lines = try folder.lease().map { $0.line.map { String(decoding: $0, as: UTF8.self) } }
    #expect(lines == ["{\"old\":1}\n", "{\"a\":1}\n", "{\"b\":1}"])
    #expect([folder.names("in"), folder.names("in.taken"), folder.names("in.refused")] == [[], [], []])
    #expect(try folder.lease().isEmpty)
  }

  @Test func `very many files are listed once for several batches, and each is added once`() throws {
    let folder = try TestDropFolder()
    for number in 1...4_100 { try folder.drop("{}", as: "\(10_000 + number)") }
    let other = try folder.opened()
    #expect(try folder.takeIn())
    #expect(folder.names("in") == ["14097", "14098", "14099", "14100"])
    // Others change the folder meanwhile: an older file arrives after the listing, and a listed
    // file disappears.
    try folder.drop("{\"old\":1}", as: "older", age: 60)
    try FileManager.default.removeItem(atPath: folder.path("in/14098"))
    #expect(try folder.takeIn())
    #expect(folder.names("in") == ["older"])
    try folder.drop("{}", as: "newer")
    #expect(try !other.takeIn())
    #expect(try !folder.takeIn())
    #expect(try folder.queue.counts().total == 4_101)
    #expect(folder.names("in") == [])
    #expect(folder.notices == [])
  }

  @Test func `what begins with a dot, and what is no file, stays, and a notice says so once`() throws {
    let folder = try TestDropFolder()
    try folder.drop("{}", as: ".hidden")
    try FileManager.default.createDirectory(atPath: folder.path("in/folder\n"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: folder.path("in/link"), withDestinationPath: "/etc/passwd")
    #expect(unsafe mkfifo(folder.path("in/pipe"), 0o600) == 0)
    for _ in 0..<2 { #expect(try folder.lease().isEmpty) }
    #expect(folder.names("in") == [".hidden", "folder\n", "link", "pipe"])
    #expect(folder.notices.count == 1)
    #expect(folder.notices.first?.hasSuffix("/in/folder\n: is not a regular file and stays there; so do 2 more") == true)
  }

  @Test func `a link in the place of a folder of attache's is not followed`() throws {
    let folder = try TestDropFolder()
    try FileManager.default.createDirectory(atPath: folder.path("other"), withIntermediateDirectories: false)
    try folder.drop("kept", as: "file", in: "other")
    try FileManager.default.createDirectory(atPath: folder.path("in.taken"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: folder.path("in.taken/b1"), withDestinationPath: "../other")
    #expect(try folder.lease().isEmpty)
    #expect(folder.names("other") == ["file"])
  }

  @Test func `a name of any bytes is added, and its payload has a name that can be shown`() throws {
    let folder = try TestDropFolder()
    let names: [[UInt8]] = [
      [0xFF, 0xFE, 0x61], Array("a\u{85}b\u{202E}c\u{1B}[2J".utf8), Array("cat\r".utf8), Array("--..".utf8),
      Array((String(repeating: "ü", count: 120) + ".json").utf8),
    ]
    for name in names {
      let path = Array(folder.path("in/").utf8CString.dropLast()) + name.map(CChar.init(bitPattern:)) + [0]
      let file = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
      #expect(file >= 0)
      close(file)
    }
    _ = try folder.queue.finish(folder.lease().map { $0.finished() })
    var request = DeliveryRequest(limit: 10, span: .seconds(10))
    request.includesFiles = true
    let found = try folder.queue.settle([], claiming: request).deliveries.compactMap(\.name)
    #expect(Set(found) == ["__a", "a_b_c_[2J", "cat_", "--..", String(repeating: "ü", count: 27) + ".json"])
    #expect(folder.names("in") == [])
  }

  @Test(arguments: [Int.max, Int.min, 9_223_372_037, -9_223_372_037])
  func `a file from another age is added`(seconds: Int) throws {
    let folder = try TestDropFolder()
    try folder.drop("{}", as: "b")
    let file = unsafe open(folder.path("in/a"), O_WRONLY | O_CREAT, 0o600)
    // The file system rounds the time.
    #expect(unsafe futimens(file, [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 999_999_999)]) == 0)
    close(file)
    #expect(try folder.lease().map(\.text) == (seconds > 0 ? ["{}", ""] : ["", "{}"]))
  }

  @Test func `an object that is written over several lines becomes one line, and means the same`() throws {
    let folder = try TestDropFolder()
    try folder.drop("{\r\n  \"aps\": {\n    \"alert\": \"a\\nb\"\n  }\n}\n", as: "pretty.json")
    try folder.drop("{}\n\n", as: "twice.json", age: -1)
    let lines = try folder.lease().map { $0.line.map { String(decoding: $0, as: UTF8.self) } }
    #expect(lines == ["{    \"aps\": {     \"alert\": \"a\\nb\"   } }\n", "{} \n"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `what is no JSON leaves byte for byte, whatever line feeds it has`(_ backend: QueueBackend) throws {
    let folder = try TestDropFolder(backend)
    let texts = ["one\ntwo\r\n\n", "{\"a\":\"b\nc\"}\n", "{}\n{}\n", ""]
    for (index, text) in texts.enumerated() { try folder.drop(text, as: "\(index)") }
    _ = try folder.queue.finish(folder.lease().map { $0.finished(.invalid) })
    #expect(try folder.queue.lines() == texts)
  }

  @Test func `the envelope decides before the options, and a repeated payload is added once`() throws {
    let folder = try TestDropFolder()
    var options = EnqueueOptions()
    (options.priority, options.key) = (3, .bytes)
    let drops = try folder.opened(options)
    let gorush = """
      {"notifications":[{"tokens":["t"],"platform":1,"message":"low","priority":"normal","expiration":1894000000}]}
      """
    try folder.drop("{\"aps\":{}}", as: "1", age: 9)
    try folder.drop(gorush, as: "2")
    try folder.drop(gorush, as: "3")
    #expect(try !drops.takeIn())
    #expect(drops.added == 2)
    let leases = try folder.queue.lease()
    #expect(leases.map(\.token.id) == [2, 1])
    #expect(leases.map(\.expiresAt) == [.seconds(1_894_000_000), nil])
    #expect(folder.names("in") == [])
  }

  @Test func `files that are longer than a queue takes are put aside, each under a name of its own`() throws {
    let folder = try TestDropFolder()
    for size in 1...2 {
      try folder.drop(bytes: NewPayload.maximumLine + size, as: "long")
      #expect(try folder.lease().isEmpty)
    }
    #expect(folder.names("in.refused").count == 2)
    #expect(
      folder.notices.first?.hasSuffix("in.refused/long: the file is longer than 64 MiB, the limit of a queue and was moved there") == true)
  }

  @Test func `a dropped file whose reading fails is put aside, and the others are added`() throws {
    let folder = try TestDropFolder()
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    let file = unsafe open(folder.path("in/a"), O_RDWR | O_CLOEXEC)
    defer { close(file) }
    // A write lease keeps others from opening the file. The kernel asks for it back by a signal;
    // use one that has no effect here.
    let (setSignal, setLease): (Int32, Int32) = (10, 1024)
    #expect(fcntl(file, setSignal, SIGURG) == 0)
    #expect(fcntl(file, setLease, Int32(F_WRLCK)) == 0)
    #expect(try folder.lease().map(\.text) == ["b"])
    #expect(folder.names("in.refused") == ["a"])
    #expect(folder.notices.first?.hasSuffix("in.refused/a: the file cannot be read and was moved there") == true)
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a dropped file that cannot be moved stays, and the others are added`() throws {
    let folder = try TestDropFolder()
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    // The kernel refuses to rename a mount point, as it refuses to move another user's file out of
    // a sticky folder.
    try Data().write(to: URL(filePath: folder.path("other")))
    #expect(unsafe mount(folder.path("other"), folder.path("in/a"), nil, UInt(MS_BIND), nil) == 0)
    defer { unsafe umount2(folder.path("in/a"), Int32(MNT_DETACH)) }
    #expect(try folder.lease().map(\.text) == ["b"])
    #expect(folder.notices.count == 1)
    #expect(folder.notices.first?.hasSuffix("in/a: cannot be moved and stays there") == true)
    #expect([folder.names("in"), folder.names("in.taken")] == [["a"], []])
    unsafe umount2(folder.path("in/a"), Int32(MNT_DETACH))
    #expect(try folder.lease().map(\.text) == ["a"])
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a folder that is another file system than the one around it is refused`() throws {
    let folder = try TestDropFolder()
    let disk = try #require(QueueTestDisk(at: folder.path("in")))
    defer { disk.unmount() }
    #expect {
      _ = try folder.opened()
    } throws: { error in
      guard case .unavailable(let text)? = error as? QueueError else { return false }
      return text.hasSuffix("/in: is a file system of its own, and files cannot be moved out of it; choose a folder within it")
    }
  }

  @Test func `a folder that is missing, or that is removed, is named`() throws {
    let folder = try TestDropFolder()
    try FileManager.default.removeItem(atPath: folder.path("in"))
    for (text, call) in [("was removed", { _ = try folder.takeIn() }), ("create the folder first", { _ = try folder.opened() })] {
      #expect {
        try call()
      } throws: { error in
        if case .unavailable(let message)? = error as? QueueError { message.contains(text) } else { false }
      }
    }
  }
}
