internal import Attache
internal import FoundationEssentials
internal import Glibc

/// The files that a scenario can name: those in its own folder, and those in the folder `media`
/// next to that folder.
///
/// A scenario can come from an untrusted source. A file is accepted only when its real path, with
/// all symbolic links resolved, is in one of the two folders.
final class ScenarioFolder {
  /// The reason why a file is not read.
  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  /// The maximum size of all files of a scenario together, in bytes: four times the largest
  /// stand-in.
  private static let maximumSize = 4 * StandIn.maximumSize

  private let folder: String
  /// The real paths of the folders, each with a slash at the end.
  private let roots: [String]
  private var files: [String: [UInt8]] = [:]
  private var size = 0

  init(of file: String) {
    folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "./"
    guard let real = Self.realPath(folder) else {
      roots = []
      return
    }
    // The folder `media` itself is not resolved, because a link in its place leads elsewhere.
    let parent = real.lastIndex(of: "/").map { real[..<$0] } ?? ""
    roots = [real == "/" ? "/" : real + "/", parent + "/media/"]
  }

  /// Returns the name of the scenario in a file.
  static func name(of file: String) -> String {
    let last = file.split(separator: "/").last.map(String.init) ?? file
    let ending = Scenario.fileEndings.first { last.hasSuffix("." + $0) }
    return ending.map { String(last.dropLast($0.count + 1)) } ?? last
  }

  /// Returns the bytes of a file; nil when no file has that name.
  ///
  /// - Parameter name: relative to the scenario's folder; `media/…` is also searched for next to
  ///   that folder.
  /// - Throws: ``Refusal`` for a file elsewhere, a file that is not regular, or a file with which
  ///   the total exceeds 1 GB.
  func read(_ name: String) throws(Refusal) -> [UInt8]? {
    if let bytes = files[name] { return bytes }
    guard let bytes = try find(name) else { return nil }
    try keep(bytes, as: name)
    return bytes
  }

  /// Returns the bytes of a stand-in; nil when the name is not that of a stand-in.
  ///
  /// - Throws: ``Refusal`` like ``StandIn/bytes(named:)``, or when the total exceeds 1 GB with it.
  func standIn(_ name: String) throws(Refusal) -> [UInt8]? {
    if let bytes = files[name] { return bytes }
    let made: [UInt8]?
    do throws(StandIn.Mistake) { made = try StandIn.bytes(named: name) } catch { throw Refusal(description: error.description) }
    if let made { try keep(made, as: name) }
    return made
  }

  private func keep(_ bytes: [UInt8], as name: String) throws(Refusal) {
    size += bytes.count
    guard size <= Self.maximumSize else {
      throw Refusal(description: "with \(name) the files of this scenario have \(size) bytes; at most \(Self.maximumSize) are allowed")
    }
    files[name] = bytes
  }

  private func find(_ name: String) throws(Refusal) -> [UInt8]? {
    let beside = name.hasPrefix("/") ? name : folder + name
    let places = name.hasPrefix("media/") ? [beside, "\(folder)../\(name)"] : [beside]
    guard let path = places.lazy.compactMap(Self.realPath).first else { return nil }
    guard roots.contains(where: { path.utf8.starts(with: $0.utf8) }) else {
      throw Refusal(
        description:
          "\(name) is outside the scenario's folder; a scenario may name files in its own folder and in the folder media beside it")
    }
    return try Self.contents(path, name)
  }

  private static func contents(_ path: String, _ name: String) throws(Refusal) -> [UInt8] {
    // With O_NONBLOCK, opening a named pipe does not wait for its writer. O_NOFOLLOW: the path is
    // already resolved.
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    guard file >= 0, let status = try? FileStatus(descriptor: file) else {
      throw Refusal(description: "\(name): \(SystemError.text(errno))")
    }
    guard status.isRegular else { throw Refusal(description: "\(name) is not a regular file") }
    guard status.size <= StandIn.maximumSize else {
      throw Refusal(description: "\(name) has \(status.size) bytes; a file has at most \(StandIn.maximumSize)")
    }
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw Refusal(description: "\(name) cannot be read; check its permissions")
    }
    return [UInt8](data)
  }

  /// Returns a path with all symbolic links resolved; nil when the path does not exist.
  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
