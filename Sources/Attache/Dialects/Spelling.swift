/// What somebody may have meant by a word that is unknown.
enum Spelling {
  /// The known word that the fewest changes of one letter lead to; nil when all are far off.
  static func nearest(to word: String, of known: [String]) -> String? {
    let nearest = known.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(1, word.utf8.count / 3) else { return nil }
    return nearest.word
  }

  /// Levenshtein's: how many letters are to be put in, left out or changed.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (index, byte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in right.enumerated() {
        let changed = diagonal + (byte == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
