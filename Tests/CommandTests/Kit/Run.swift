/// The result of a program's run.
struct Run {
  var exit: Program.Exit
  var output: [UInt8]
  var errors: String

  var text: String { String(decoding: output, as: UTF8.self) }
}
