/// What results hold in the store: `holds/of/…` has the paths of a result, `holds/by/PATH/…` a mark for each result that holds a path, and
/// `holds/freed/…` what was a result's and is to be named as free unless another holds it.
///
/// The files are named after the number and the fence of the result, so that what a payload held before it was tried again is told from what it holds now.
extension FolderEntry {
  private static func marks(ofHold path: String) -> String { "holds/by/\(FolderFiles.digest(path.utf8))" }

  private var holdName: String { "\(id)-\(fence)" }

  /// What says that this result holds a path.
  func mark(ofHold path: String) -> String { "\(Self.marks(ofHold: path))/\(holdName)" }

  /// Where the paths of this result are once it holds them no more.
  var freedHolds: String { "holds/freed/\(holdName)" }

  /// Whether a result holds a path.
  static func isHeld(_ path: String, in folder: QueueFolder) -> Bool { folder.has(marks(ofHold: path)) }

  /// Forgets what was freed.
  ///
  /// - Returns: the paths that no result holds.
  static func takeFreedHolds(in folder: QueueFolder) throws(QueueError) -> [String] {
    var paths: Set<String> = []
    for name in try folder.names(in: "holds/freed") {
      let bytes = try folder.bytes(of: "holds/freed/\(name)") ?? []
      for part in bytes.split(separator: 0) {
        let path = String(decoding: part, as: UTF8.self)
        try folder.remove("\(marks(ofHold: path))/\(name)")
        if folder.removeFolder(marks(ofHold: path)) { paths.insert(path) }
      }
      try folder.remove("holds/freed/\(name)")
    }
    return paths.sorted()
  }
}
