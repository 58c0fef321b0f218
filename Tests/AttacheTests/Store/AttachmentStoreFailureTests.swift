import Attache
import Glibc
import Testing

@Suite struct AttachmentStoreFailureTests {
  let folder = AttachmentStoreTestFolder()

  @Test(.enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting a file system needs root"))
  func `a disk that fills on the way is an error that leaves no file`() throws {
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    let store = try AttachmentStore(directory: folder["disk"], maximumBytes: 1_000_000, maximumAge: .seconds(1))
    let file = try store.beginFile()
    try file.append([UInt8](repeating: 1, count: 4096))
    #expect {
      try file.append([UInt8](repeating: 2, count: 100_000))
    } throws: { error in
      (error as? StoreError)?.reason == .storeFull && (error as? StoreError)?.call.code == ENOSPC
    }
    #expect(folder.files.isEmpty)
    // There is space again.
    #expect(try store.add([3]).size == 1)
  }

  @Test(.enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting a file system needs root"))
  func `a disk that is full at the start is found then`() throws {
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    folder.makeFolder("disk/tmp")
    disk.fill()
    let error = #expect(throws: StoreError.self) {
      try AttachmentStore(directory: folder["disk"], maximumBytes: 1_000_000, maximumAge: .seconds(1))
    }
    #expect(error?.reason == .storeFull)
    #expect(error?.description.contains("free space, for example by `attache store prune`") == true)
    #expect(folder.files == ["disk/filler"])
  }

  @Test(.enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting a file system needs root"))
  func `a disk that turns read-only on the way is an error`() throws {
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    let store = try AttachmentStore(directory: folder["disk"], maximumBytes: 1_000_000, maximumAge: .seconds(1))
    let stored = try store.add([1])
    disk.turnReadOnly()
    #expect {
      try store.beginFile()
    } throws: { error in
      (error as? StoreError)?.reason == .storeReadOnly && (error as? StoreError)?.call.code == EROFS
    }
    // Existing files can still be used.
    #expect(store.touch(stored))
    let summary = try store.prune()
    #expect(summary?.filesKept == 1)
  }

  @Test(.enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting a file system needs root"))
  func `a disk that is read-only at the start is found then`() throws {
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    disk.turnReadOnly()
    let error = #expect(throws: StoreError.self) {
      try AttachmentStore(directory: folder["disk/store"], maximumBytes: 1_000_000, maximumAge: .seconds(1))
    }
    #expect(error?.reason == .storeReadOnly)
  }

  @Test func `a folder that the mode forbids to write is found at the start`() async {
    await #expect(processExitsWith: .success) {
      let folder = AttachmentStoreTestFolder()
      folder.makeFolder("store", mode: 0o755)
      folder.setMode("", 0o755)
      // Root may write anywhere; the mode restricts all other users.
      if geteuid() == 0 { seteuid(65534) } else { folder.setMode("store", 0o555) }
      defer { if getuid() == 0 { seteuid(0) } }
      for name in ["store", "store/new"] {
        let error = #expect(throws: StoreError.self) {
          try AttachmentStore(directory: folder[name], maximumBytes: 1, maximumAge: .zero)
        }
        #expect(error?.reason == .storeReadOnly)
        #expect(error?.call.code == EACCES)
      }
    }
  }

  @Test func `a file where the store should be is an error that names it`() {
    folder.write([1], to: "store")
    let error = #expect(throws: StoreError.self) {
      try AttachmentStore(directory: folder["store"], maximumBytes: 1, maximumAge: .zero)
    }
    #expect(error?.reason == .storeFailed)
    #expect(error?.call.path == folder["store"])
    #expect(
      error?.description == "cannot open \(folder["store"]): Not a directory (errno 20); check that path, or choose another --store")
  }

  @Test func `a store without a name is an error`() {
    #expect(throws: StoreError.self) { try AttachmentStore(directory: "", maximumBytes: 1, maximumAge: .zero) }
  }

  @Test func `a subfolder that is a symbolic link is not followed`() throws {
    let store = try folder.store()
    let stored = try store.add([1])
    let subfolder = String(stored.sha256.prefix(2))
    folder.move(subfolder, to: "outside")
    folder.link(subfolder, to: "outside")
    #expect(!store.touch(stored))
    folder.remove("outside/\(stored.sha256).png")
    let error = #expect(throws: StoreError.self) { try store.add([1]) }
    #expect(error?.reason == .storeFailed)
    #expect(folder.files == [subfolder])
    #expect(try store.prune()?.filesKept == 0)
  }

  @Test func `a symbolic link under a file's name is replaced, and what it names stays`() throws {
    let store = try folder.store()
    let stored = try store.add([1])
    folder.write([9], to: "outside")
    folder.remove(stored.relativePath)
    folder.link(stored.relativePath, to: "../outside")
    #expect(!store.touch(stored))
    _ = try store.add([1])
    #expect(folder.bytes("outside") == [9])
    #expect(store.touch(stored))
  }

  @Test func `a folder of temporary files that is a symbolic link is refused`() {
    folder.makeFolder("outside")
    folder.makeFolder("store")
    folder.link("store/tmp", to: "../outside")
    let error = #expect(throws: StoreError.self) {
      try AttachmentStore(directory: folder["store"], maximumBytes: 1, maximumAge: .zero)
    }
    #expect(error?.reason == .storeFailed)
  }

  @Test func `a store that is moved away keeps its files together`() throws {
    folder.makeFolder("store")
    let store = try AttachmentStore(directory: folder["store"], maximumBytes: 1000, maximumAge: .seconds(1))
    folder.move("store", to: "moved")
    folder.makeFolder("store")
    let stored = try store.add([1])
    #expect(folder.files == ["moved/\(stored.relativePath)"])
  }
}
