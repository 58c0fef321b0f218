/// The C libraries that attache runs with, and their versions: what the libraries say of themselves
/// at run time, which may be later than what attache was built with.
package enum LibraryVersions {
  /// Each by the name that its project uses. simdjson tells its version to the compiler alone.
  package static var all: [(name: String, version: String)] {
    [
      ("libcurl", NetworkLibraries.curl), ("libmagic", MediaLibraries.magic), ("c-ares", NetworkLibraries.cares),
      ("simdjson", JSONParser.libraryVersion), ("SQLite", MediaLibraries.sqlite),
    ]
  }
}
