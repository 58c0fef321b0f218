/// The changes that let a file for Apple's platforms compile on Linux. Every line keeps its length,
/// so the places in the compiler's messages stay those of the author's file.
package enum SourceOverlay {
  /// Returns the changed text of a source.
  ///
  /// - `@objc`, `@objc(Name)` and `@objcMembers` become blanks: without the Objective-C runtime they
  ///   are errors.
  /// - `@main` and `@UIApplicationMain` become blanks: the program has a main function of attache's.
  /// - `Foundation` in an import becomes `Groundwork`, the module that adds what Foundation for
  ///   Linux does not have. Its name is as long. Declarations of the module that a file imports itself would come first.
  ///
  /// Comments and strings stay as they are.
  package static func text(_ source: [UInt8]) -> [UInt8] {
    var text = source
    var scanner = SourceScanner(source)
    while let token = scanner.next() {
      let word = source[token]
      if word.elementsEqual("@objc".utf8) || word.elementsEqual("@objcMembers".utf8) {
        blank(token, in: &text)
        if word.count == 5, let name = scanner.argument() { blank(name, in: &text) }
      } else if word.elementsEqual("@main".utf8) || word.elementsEqual("@UIApplicationMain".utf8) {
        blank(token, in: &text)
      } else if word.elementsEqual("import".utf8), let module = scanner.imported() {
        if source[module].elementsEqual("Foundation".utf8) { text.replaceSubrange(module, with: "Groundwork".utf8) }
      }
    }
    return text
  }

  private static func blank(_ range: Range<Int>, in text: inout [UInt8]) {
    for index in range where text[index] != UInt8(ascii: "\n") { text[index] = UInt8(ascii: " ") }
  }
}
