internal import Glibc

/// `fuzz TARGET [libFuzzer's arguments]`: which target it is, and the two functions that libFuzzer
/// calls.
enum Fuzz {
  private typealias Choice = (name: String, make: @Sendable () throws -> any Target)

  private static let parsers: [Choice] = [
    ("lines", { LinesTarget() }),
    ("rewrites", { RewritesTarget() }),
    ("urls", { URLsTarget() }),
    ("addresses", { AddressesTarget() }),
    ("responses", { try ResponsesTarget() }),
    ("frames", { FramesTarget() }),
  ]

  private static var senders: [Choice] {
    #if SENDERS
      [("answers", { AnswersTarget() }), ("replies", { RepliesTarget() })]
    #else
      []
    #endif
  }

  /// Set before libFuzzer gives its first input, on the same thread.
  nonisolated(unsafe) static var target: (any Target)?

  static func choose(_ name: String?) throws {
    let targets = parsers + senders
    guard let chosen = targets.first(where: { $0.name == name }) else {
      print("usage: fuzz \(targets.map(\.name).joined(separator: "|")) [libFuzzer's arguments]")
      exit(64)
    }
    unsafe target = try chosen.make()
  }
}

/// Takes the target's name off the arguments.
@_cdecl("LLVMFuzzerInitialize")
func initialize(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
  let name = unsafe count.pointee > 1 ? arguments.pointee[1].map { unsafe String(cString: $0) } : nil
  do {
    try Fuzz.choose(name)
  } catch {
    print("fuzz: \(error)")
    exit(70)
  }
  unsafe arguments.pointee[1] = unsafe arguments.pointee[0]
  unsafe arguments.pointee += 1
  unsafe count.pointee -= 1
  return 0
}

/// Gives the target one input.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  unsafe Fuzz.target?.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}
