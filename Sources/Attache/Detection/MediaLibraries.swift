internal import CMagic
internal import CSQLite

/// The versions of the libraries that inspect media and store the index.
enum MediaLibraries {
  /// The version of libmagic, which reports 5.44 as 544.
  static var magic: String {
    let number = magic_version()
    let minor = number % 100
    return "\(number / 100).\(minor < 10 ? "0" : "")\(minor)"
  }

  static var sqlite: String {
    unsafe String(cString: sqlite3_libversion())
  }
}
