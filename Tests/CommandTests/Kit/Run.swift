/// What a program left behind.
struct Run {
  var exit: Program.Exit
  var output: [UInt8]
  var errors: String

  var text: String { String(decoding: output, as: UTF8.self) }
}
