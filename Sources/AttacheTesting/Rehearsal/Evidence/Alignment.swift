/// Finds the longest common subsequence of two sequences (Hunt and Szymanski, 1977).
enum Alignment {
  struct Pair: Hashable {
    var left: Int
    var right: Int
  }

  /// - Parameters:
  ///   - left: the elements of one side.
  ///   - right: the elements of the other side; nil equals nothing.
  /// - Returns: the pairs of indices in order.
  static func pairs(_ left: [Int], _ right: [Int?]) -> [Pair] {
    let start = zip(left, right).prefix { $0 == $1 }.count
    let bound = min(left.count, right.count) - start
    let end = zip(left.reversed(), right.reversed()).prefix(bound).prefix { $0 == $1 }.count
    let (leftRest, rightRest) = (start..<left.count - end, start..<right.count - end)
    return (0..<start).map { Pair(left: $0, right: $0) } + longest(left, leftRest, right, rightRest)
      + (0..<end).map { Pair(left: leftRest.upperBound + $0, right: rightRest.upperBound + $0) }
  }

  private struct Node {
    var pair: Pair
    var previous: Int?
  }

  private static func longest(_ left: [Int], _ leftRange: Range<Int>, _ right: [Int?], _ rightRange: Range<Int>) -> [Pair] {
    var places: [Int: [Int]] = [:]
    for index in leftRange.reversed() { places[left[index], default: []].append(index) }
    var nodes: [Node] = []
    // For each length, the last node of the best sequence: the one with the smallest left index.
    var tails: [Int] = []
    for index in rightRange {
      for place in right[index].flatMap({ places[$0] }) ?? [] {
        let length = tails.partitioningIndex { nodes[$0].pair.left >= place }
        if length < tails.count, nodes[tails[length]].pair.left == place { continue }
        nodes.append(Node(pair: Pair(left: place, right: index), previous: length > 0 ? tails[length - 1] : nil))
        if length < tails.count { tails[length] = nodes.count - 1 } else { tails.append(nodes.count - 1) }
      }
    }
    let row = sequence(first: tails.last) { last in last.map { nodes[$0].previous } }
    return row.compactMap { $0 }.map { nodes[$0].pair }.reversed()
  }
}

extension [Int] {
  /// Returns the first index from which the condition holds. The condition must hold for all later
  /// indices.
  fileprivate func partitioningIndex(where holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
