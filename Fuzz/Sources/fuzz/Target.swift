/// A part of the filter that is given whatever the fuzzer thinks of. A file is a target; its first
/// comment says what is checked.
///
/// The first bytes of an input choose flags and sizes, the rest is what a stranger sends.
protocol Target {
  /// Gives the part one input, and checks what comes of it.
  func run(_ input: [UInt8])
}
