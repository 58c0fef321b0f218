internal import CLinux
internal import Glibc

/// The two descriptors of a new pipe. The kernel closes them on exec.
package struct PipeEnds {
  package let read: Int32
  package let write: Int32

  package init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    _ = try SystemError.check("pipe", unsafe linux_pipe(&ends))
    (read, write) = (ends[0], ends[1])
  }
}
