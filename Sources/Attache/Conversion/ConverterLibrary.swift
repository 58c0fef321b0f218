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
    message(unsafe String(cString: text))
  }

  /// Returns why the library cannot be used, and what to do.
  ///
  /// - Parameter text: the message of the dynamic linker or of the library.
  static func message(_ text: String) -> String {
    if let shortage = shortage(in: text) { return "pictures cannot be converted, since libvips cannot be loaded: \(text); \(shortage)" }
    return
      "pictures cannot be converted without libvips 8.13 or later: \(text); install it (Debian: apt-get install libvips42), or leave out --convert"
  }

  /// What glibc's linker says when it gets no memory (elf/dl-map-segments.h, dl-load.c, dl-object.c).
  private static let memoryTexts = [
    "failed to map", "cannot map", "cannot allocate", "Cannot allocate", "cannot change memory protections", "cannot restore segment prot",
    "cannot create", "out of memory",
  ]

  /// What is short according to a message of the dynamic linker, which has no codes; nil for another
  /// failure.
  static func shortage(in text: String) -> Shortage? {
    if text.contains("Too many open files") { return .descriptors }
    // Room for thread-local data is short for another reason.
    guard !text.contains("static TLS") else { return nil }
    return memoryTexts.contains { text.contains($0) } ? .memory : nil
  }
}
