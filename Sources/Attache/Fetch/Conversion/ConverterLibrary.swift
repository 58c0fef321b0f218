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
    "pictures cannot be converted without libvips 8.13 or later: \(unsafe String(cString: text)); install it (Debian: apt-get install libvips42), or leave out --convert"
  }
}
