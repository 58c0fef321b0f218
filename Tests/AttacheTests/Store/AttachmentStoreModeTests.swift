import Attache
import Glibc
import Testing

/// The umask belongs to the process, so each test runs in its own process.
@Suite struct AttachmentStoreModeTests {
  @Test func `a store that is created is private, and so are the folders above it, under a umask of 000`() async {
    await #expect(processExitsWith: .success) {
      umask(0)
      try expectPrivateStore()
    }
  }

  @Test func `a store that is created is private, and so are the folders above it, under a umask of 277`() async {
    await #expect(processExitsWith: .success) {
      umask(0o277)
      try expectPrivateStore()
    }
  }

  @Test func `files follow the mode of a store that exists, under a umask of 077`() async {
    await #expect(processExitsWith: .success) {
      umask(0o077)
      try expectModes(ofStore: 0o750, file: 0o640)
      try expectModes(ofStore: 0o2770, file: 0o660)
    }
  }

  @Test func `files follow the mode of a store that exists, under a umask of 000`() async {
    await #expect(processExitsWith: .success) {
      umask(0)
      try expectModes(ofStore: 0o700, file: 0o600)
      try expectModes(ofStore: 0o1777, file: 0o666)
    }
  }
}

extension AttachmentStoreModeTests {
  @Test(arguments: [(0o755, 0o700), (0o750, 0o700), (0o2775, 0o2770), (0o770, 0o770), (0o1777, 0o1777)] as [(mode_t, mode_t)])
  func `only those who may write the store can open what is locked`(store mode: mode_t, locked: mode_t) throws {
    let folder = AttachmentStoreTestFolder()
    folder.makeFolder("store", mode: mode)
    // As a folder that everyone may read.
    folder.makeFolder("store/tmp", mode: mode)
    folder.makeFolder("store/.held", mode: mode)
    let store = try AttachmentStore(directory: folder["store"], maximumBytes: 1000, maximumAge: .seconds(1))
    #expect(folder.mode("store/tmp") == locked)
    let owner = HoldOwner(kind: "sqlite", path: folder["queue"])
    folder.write([], to: "queue")
    let lock = try store.lockHolds(of: owner)
    #expect(folder.mode("store/.held") == locked)
    withExtendedLifetime(lock) {}
  }
}

private func expectPrivateStore() throws {
  let folder = AttachmentStoreTestFolder()
  folder.setMode("", 0o755)
  let store = try AttachmentStore(directory: folder["above/store/"], maximumBytes: 1000, maximumAge: .seconds(1))
  let stored = try store.add([1])
  let subfolder = String(stored.sha256.prefix(2))
  #expect(folder.mode("above") == 0o700)
  #expect(folder.mode("above/store") == 0o700)
  #expect(folder.mode("above/store/tmp") == 0o700)
  #expect(folder.mode("above/store/\(subfolder)") == 0o700)
  #expect(folder.mode("above/store/\(stored.relativePath)") == 0o600)
}

private func expectModes(ofStore mode: mode_t, file: mode_t) throws {
  let folder = AttachmentStoreTestFolder()
  folder.makeFolder("store", mode: mode)
  let store = try AttachmentStore(directory: folder["store"], maximumBytes: 1000, maximumAge: .seconds(1))
  let stored = try store.add([1])
  #expect(folder.mode("store") == mode)
  #expect(folder.mode("store/\(stored.sha256.prefix(2))") == mode)
  #expect(folder.mode("store/\(stored.relativePath)") == file)
}
