/// Suggests known words for a misspelled one.
package enum Spelling {
  /// Returns the known word with the smallest edit distance; nil if none is close enough.
  package static func nearest(to word: String, of known: [String]) -> String? {
    let nearest = known.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(1, word.utf8.count / 3) else { return nil }
    return nearest.word
  }

  /// Returns the number of insertions, deletions, substitutions and swaps of neighboring letters
  /// between two words.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var (before, row) = ([Int](), Array(0...right.count))
    for (index, byte) in left.enumerated() {
      var next = [index + 1]
      for (column, other) in right.enumerated() {
        var least = min(row[column] + (byte == other ? 0 : 1), row[column + 1] + 1, next[column] + 1)
        let isSwapped = index > 0 && column > 0 && byte == right[column - 1] && other == left[index - 1]
        if isSwapped { least = min(least, before[column - 1] + 1) }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[right.count]
  }
}
