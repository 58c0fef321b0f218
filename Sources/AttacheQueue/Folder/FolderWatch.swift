package import Attache
internal import Glibc
internal import Synchronization

/// Waits until a file appears in a folder, or may be readable at last (inotify). A folder that takes
/// the place of the first is watched from then on.
package final class FolderWatch: Sendable {
  private let path: String
  private let events: Int32
  private let wakeSignal: EventFD
  private let hasStopped = Atomic<Bool>(false)

  /// - Throws: ``SystemError`` when the system cannot watch the folder.
  package init(_ path: String) throws(SystemError) {
    self.path = path
    wakeSignal = try EventFD()
    events = try SystemError.check("inotify_init1", inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK)))
    guard watch() else {
      let error = SystemError(call: "inotify_add_watch", number: errno)
      close(events)
      throw error
    }
  }

  private func watch() -> Bool {
    // A file that is moved in or linked is complete. One that is written in place is when it is closed.
    let wanted = IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
    return unsafe inotify_add_watch(events, path, UInt32(wanted)) >= 0
  }

  deinit {
    close(events)
  }

  /// Whether ``stop()`` was called.
  package var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  /// Ends the current wait, and all later ones. Safe from any thread.
  package func stop() {
    hasStopped.store(true, ordering: .releasing)
    wakeSignal.ring()
  }

  /// Waits for a change since the last call, or for ``stop()``.
  package func wait() {
    var descriptors = [events, wakeSignal.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while !isStopped {
      let count = unsafe poll(&descriptors, 2, -1)
      guard count > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      // The events are not read: the folder is listed anyway.
      while unsafe read(events, &buffer, buffer.count) > 0 {}
      // Nothing is there while the folder is replaced; whoever lists it then reports that.
      _ = watch()
      return
    }
  }
}
