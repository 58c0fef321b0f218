internal import CConverter

/// libvips, which is loaded at run time, and only for a run that converts.
///
/// It is loaded before the processes are forked that use it, because a confined process opens no
/// file. This process never decodes with it.
enum ConverterLibrary {
  /// Loads the library once.
  ///
  /// - Throws: ``StartError`` when it is missing or unusable.
  static func load() throws(StartError) {
    if let failure { throw StartError(failure) }
  }

  /// Why the library cannot be used; nil if it is loaded.
  private static let failure: String? = unsafe converter_load().map { text in
    let text = unsafe String(cString: text)
    if let shortage = shortage(in: text) { return "pictures cannot be converted, since libvips cannot be loaded: \(text); \(shortage)" }
    return
      "pictures cannot be converted without libvips 8.13 or later: \(text); install it (Debian: apt-get install libvips42), or leave out --convert"
  }

  /// What is short according to a message of the dynamic linker, which has no codes; nil for another
  /// failure.
  static func shortage(in text: String) -> Shortage? {
    if text.contains("failed to map") || text.contains("cannot allocate") || text.contains("Cannot allocate") { return .memory }
    return text.contains("Too many open files") ? .descriptors : nil
  }
}
