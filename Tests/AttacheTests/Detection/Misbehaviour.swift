internal import CMisbehaviour
import Glibc

@testable import Attache

/// How a library misbehaves in the child of a detector or of a converter (`Tests/CMisbehaviour`).
enum Misbehaviour {
  case crash, loop, wait, otherAnswer, garbage, escape, wrongType, flood

  private var code: misbehaviour {
    switch self {
    case .crash: misbehaviour_crash
    case .loop: misbehaviour_loop
    case .wait: misbehaviour_wait
    case .otherAnswer: misbehaviour_other_answer
    case .garbage: misbehaviour_garbage
    case .escape: misbehaviour_escape
    case .wrongType: misbehaviour_wrong_type
    case .flood: misbehaviour_flood
    }
  }

  /// The start of bytes on which libmagic misbehaves.
  var mark: [UInt8] { Array(misbehaviour_mark.utf8) + [UInt8(code.rawValue)] }

  /// Starts a child in the place of a converter, which misbehaves on each picture.
  func startConverter() throws(SystemError) -> (socket: Int32, child: pid_t) {
    var child: pid_t = 0
    let socket = try SystemError.check("fork", unsafe misbehaving_converter_start(code, UInt64(ConverterProcess.memory), &child))
    return (socket, child)
  }
}
