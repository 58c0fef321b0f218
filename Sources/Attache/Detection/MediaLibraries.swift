internal import CMagic
internal import CSQLite

/// The versions of the libraries that look at media and keep the index.
enum MediaLibraries {
  /// libmagic's, which it gives as 544 for 5.44.
  static var magic: String {
    let number = magic_version()
    let minor = number % 100
    return "\(number / 100).\(minor < 10 ? "0" : "")\(minor)"
  }

  static var sqlite: String {
    unsafe String(cString: sqlite3_libversion())
  }
}
