/// The C libraries that attache uses, and their versions. The libraries report their versions at
/// run time, so a version may be later than the one that attache was built with.
package enum LibraryVersions {
  /// The libraries, each with the name that its project uses. simdjson provides its version only at
  /// compile time.
  package static var all: [(name: String, version: String)] {
    [
      ("libcurl", NetworkLibraries.curl), ("libmagic", MediaLibraries.magic), ("c-ares", NetworkLibraries.cares),
      ("simdjson", JSONParser.libraryVersion), ("SQLite", MediaLibraries.sqlite),
    ]
  }
}
