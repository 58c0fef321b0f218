import Glibc
import Testing

@testable import Attache

/// Messages of a process that may be in a stranger's hands.
@Suite(.serialized)
struct MessageSocketTests {
  @Test(arguments: [(0, 1), (1, 2), (5, 2)])
  func `a message leaves no descriptor that nobody owns`(count: Int, descriptors: Int) throws {
    let (own, other) = try MessageSocket.pair()
    let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { for descriptor in [own, other, file] { close(descriptor) } }
    let before = try Self.openDescriptors()
    #expect(Self.send(count: count, [Int32](repeating: file, count: descriptors), over: other) == count)
    let received = MessageSocket.receive(from: own)
    #expect(received?.message.count ?? 0 == count)
    if let descriptor = received?.descriptor, descriptor >= 0 { close(descriptor) }
    #expect(try Self.openDescriptors() == before)
  }

  /// The null devices that this process has open. Others may open files meanwhile.
  private static func openDescriptors() throws -> Int {
    let folder = unsafe open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return try FolderListing.names(closing: folder).count { name in
      var status = stat()
      return unsafe stat("/proc/self/fd/" + String(decoding: name, as: UTF8.self), &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
        && status.st_rdev == 0x103
    }
  }

  private static func send(count: Int, _ descriptors: [Int32], over socket: Int32) -> Int {
    // A cmsghdr: the length, SOL_SOCKET and SCM_RIGHTS, and the descriptors behind it.
    let length = 16 + descriptors.count * 4
    var control = [UInt8](repeating: 0, count: (length + 7) / 8 * 8)
    unsafe control.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: length, as: Int.self)
      unsafe bytes.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      unsafe bytes.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
      for (index, descriptor) in descriptors.enumerated() {
        unsafe bytes.storeBytes(of: descriptor, toByteOffset: 16 + index * 4, as: Int32.self)
      }
    }
    var content = [UInt8](repeating: 7, count: max(count, 1))
    return unsafe control.withUnsafeMutableBytes { control in
      unsafe content.withUnsafeMutableBytes { content in
        var part = unsafe iovec(iov_base: content.baseAddress, iov_len: count)
        return unsafe withUnsafeMutablePointer(to: &part) { part in
          var message = unsafe msghdr()
          unsafe (message.msg_iov, message.msg_iovlen) = (part, 1)
          unsafe (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
          return unsafe sendmsg(socket, &message, 0)
        }
      }
    }
  }
}
