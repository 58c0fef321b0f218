internal import Attache
internal import CLinux
internal import Glibc

/// A network namespace for one scenario (network_namespaces(7)). Every address in it is local to
/// this machine, so each connection of a filter is visible and no packet leaves.
///
/// A thread that enters it stays in it, and so do the threads and processes that it starts.
final class NetworkNamespace: Sendable {
  private static let network: Int32 = 0x4000_0000
  private static let mounts: Int32 = 0x0002_0000
  private static let fileSystem: Int32 = 0x200

  private let descriptor: Int32
  /// The mount namespace that replaces files of /etc; -1 when /etc is unchanged.
  private let mountDescriptor: Int32

  /// Sets up a network.
  ///
  /// - Parameters:
  ///   - hasIPv6: whether IPv6 addresses other than `::1` are reachable.
  ///   - files: the contents that replace files of /etc, by file name.
  ///   - folder: the folder where these files are written.
  /// - Throws: ``StageError/unavailable(_:)`` when the user has no permission.
  init(hasIPv6: Bool, files: [String: String], folder: StageFolder) async throws(StageError) {
    for (name, text) in files { try folder.write(Array(text.utf8), to: "etc-\(name)") }
    let result = await RehearsalThread.attempt { () throws(StageError) in
      try Self.check("unshare", linux_unshare(Self.network))
      try RouteSocket().open(hasIPv6: hasIPv6)
      let network = try Self.check("open", unsafe Glibc.open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
      guard !files.isEmpty else { return (network, Int32(-1)) }
      do throws(StageError) {
        return (network, try Self.mount(files.keys, from: folder))
      } catch {
        close(network)
        throw error
      }
    }
    (descriptor, mountDescriptor) = try result.get()
  }

  deinit {
    close(descriptor)
    if mountDescriptor >= 0 { close(mountDescriptor) }
  }

  /// Moves the calling thread into this network permanently.
  func enter() throws(StageError) {
    try Self.check("setns", linux_setns(descriptor, Self.network))
    guard mountDescriptor >= 0 else { return }
    let folder = unsafe getcwd(nil, 0)
    defer { unsafe free(folder) }
    try Self.check("unshare", linux_unshare(Self.fileSystem))
    try Self.check("setns", linux_setns(mountDescriptor, Self.mounts))
    if let folder = unsafe folder { try Self.check("chdir", unsafe chdir(folder)) }
  }

  /// Binds a socket in this network.
  func bind(_ kind: BoundSocket.Kind, at address: IPAddress?, port: UInt16) async throws(StageError) -> BoundSocket {
    let result = await RehearsalThread.attempt(in: self) { () throws(StageError) in try BoundSocket(kind, at: address, port: port) }
    return try result.get()
  }

  /// - Returns: the mount namespace of the calling thread, which is private from now on.
  private static func mount(_ names: some Collection<String>, from folder: StageFolder) throws(StageError) -> Int32 {
    try check("unshare", linux_unshare(mounts))
    // Mounts made here do not appear elsewhere; mounts made elsewhere appear here.
    try check("mount", unsafe Glibc.mount("none", "/", nil, UInt(MS_REC | MS_SLAVE), nil))
    for name in names {
      try check("mount /etc/\(name)", unsafe Glibc.mount(folder["etc-\(name)"], "/etc/\(name)", nil, UInt(MS_BIND), nil))
    }
    return try check("open", unsafe open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC))
  }

  @discardableResult
  private static func check(_ call: String, _ result: Int32) throws(StageError) -> Int32 {
    guard result < 0 else { return result }
    let number = errno
    throw [EPERM, EACCES, ENOSPC, EINVAL, ENOSYS].contains(number) && call == "unshare"
      ? .unavailable("it needs an isolated network: run as root on a machine that allows network namespaces")
      : .system(call: call, errno: number)
  }
}
