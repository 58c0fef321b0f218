internal import Glibc
internal import Synchronization

/// What the processes of a service extension print, on standard error. An extension that prints
/// without end must not fill a disk.
final class ExtensionOutput: Sendable {
  /// The most that is written in a run, in bytes.
  private static let maximum = 1 << 20

  private let written = Atomic<Int>(0)

  /// Writes bytes, unless too much was written before. Write errors are ignored.
  @Sendable func write(_ bytes: ArraySlice<UInt8>) {
    let before = written.load(ordering: .relaxed)
    guard before < Self.maximum else { return }
    written.store(before + bytes.count, ordering: .relaxed)
    let notice =
      before + bytes.count >= Self.maximum
      ? Array("\nattache: the service extension prints more than 1 MiB; the rest is dropped\n".utf8) : []
    try? WholeWrite.write(bytes + notice, to: STDERR_FILENO, waits: false)
  }
}
